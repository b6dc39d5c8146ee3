// The tree on a narrow screen: the same boxes as rows, indented; the line is a blue rule.
import { html, useState } from "../html.js";
import { Mark, markOf } from "../marks.js";
import { set, state, useStore } from "../store.js";
import * as looking from "./looking.js";
import { shapeOf } from "./shape.js";
import { useShown } from "./shown.js";
import { boxName } from "./words.js";

const LONGEST = 40; // characters; a row has the whole width

export function Outline() {
  const { run } = useStore("run", "node", "looking");
  const view = useShown();
  const [cursor, setCursor] = useState(null);
  if (!run?.tree) return html`<div class="outline-place"></div>`;
  const { opened, closed } = looking.lookingAt(run);
  const { root } = shapeOf(run.tree, view, { detail: "path", opened, closed, join: 4, crumbs: 0, longest: LONGEST });
  const rows = [];
  (function list(box) { rows.push(box.id); if (!box.isFolded) box.children.forEach(list); })(root);
  const stop = rows.includes(cursor) ? cursor : rows[0];
  const onKeyDown = (event) => {
    const to = { ArrowDown: rows[rows.indexOf(stop) + 1], ArrowUp: rows[rows.indexOf(stop) - 1], Home: rows[0], End: rows.at(-1) }[event.key];
    if (!to) return;
    setCursor(to);
    event.preventDefault();
    event.stopPropagation();
    const tree = event.currentTarget;
    requestAnimationFrame(() => tree.querySelector(`[data-id="${CSS.escape(to)}"]`)?.focus());
  };
  return html`<ul class="outline" role="tree" aria-label="Behavior tree" onKeyDown=${onKeyDown}>${branch(root, { stop, view, run }, 1)}</ul>`;
}

const NAMED = 3; // of a group so many are named

/** A row has room for the names of a group, where a box has it for their number. */
function wordsOf(box) {
  if (!box.isGroup) return box.isLit ? box.fullLabel ?? box.label : box.label;
  const names = box.units.slice(0, NAMED).map((unit) => unit.label).join(", ");
  return box.units.length > NAMED ? `${names}, ${box.units.length - NAMED} more` : names;
}

function branch(box, at, level) {
  const isOpen = !box.isFolded && box.children.length > 0;
  const act = () => (box.isGroup ? looking.open(box) : set({ node: state.node === box.unit.inner.path ? null : box.unit.inner.path }));
  const lit = box.isFocus && box.status === "running" ? " lit-node" : box.decided ? " decided" : box.isLit ? " on" : box.status === null ? " off" : "";
  return html`<li key=${box.id} role="none">
    <button class=${`row${lit}`} role="treeitem" data-id=${box.id} aria-level=${level} aria-label=${boxName({ ...box, label: wordsOf(box), fullLabel: null })} aria-expanded=${box.isLeaf ? undefined : String(isOpen)}
      aria-selected=${String(state.node === box.unit?.inner.path)} tabindex=${box.id === at.stop ? 0 : -1} onClick=${act}>
      <${Mark} name=${markOf(box.status)} /><span>${wordsOf(box)}</span>${" "}<span class="c">${box.isFolded && box.count ? box.count : ""}</span></button>
    ${isOpen ? html`<ul role="group" class=${box.children.some((child) => child.isLit) ? `lit${at.view.isLive ? "" : " ink"}` : ""}>${box.children.map((child) => branch(child, at, level + 1))}</ul>` : null}
  </li>`;
}
