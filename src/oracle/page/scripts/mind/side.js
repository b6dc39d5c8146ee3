// One side of a comparison: the same shape as the other, only the line differs.
import { html, useLayoutEffect, useRef, useState } from "../html.js";
import { Box, boxKey } from "./box.js";
import { layOut } from "./layout.js";
import { measure } from "./measure.js";
import { ancestorsOf } from "./reduce.js";
import { groupIn, shapeOf, statusOf, unitOf } from "./shape.js";
import { walkKey } from "./treekeys.js";
import { crumbWords } from "./words.js";

const ROW = 30;
const MARGIN = 24;
const EDGE = 10; // at the right: a folded box has a second edge
// [joined boxes, boxes that become words, longest name beside a line]: the mildest that fits is taken.
const WAYS = [[0, 0], [0, 2], [1, 1], [2, 1], [3, 1], [4, 1], [5, 1], [6, 1], [7, 2], [8, 3], [8, 3, 12]];

/** One layout for both sides: what is on the line of either, or differs, is opened. `missing` is what each side lacks. */
export function sharedDrawing(tree, views, differing, width, missing) {
  const ends = views.map((view) => view.focus && tree.byPath.get(view.focus.path)).filter(Boolean);
  const { nodes, closed } = differing.length ? cutBelow(tree, ends, differing) : { nodes: ends, closed: new Set() };
  const [first, ...others] = nodes.length ? nodes : [tree.roots[0]];
  const union = { statuses: views[0].statuses, focus: first, end: true, isEnd: true };
  const kept = new Set(differing.map((node) => node.path));
  const draw = ([join, crumbs, longest], most = longest) => {
    const shape = shapeOf(tree, union, { detail: "path", join, crumbs, closed, extra: [...others, ...differing], kept, longest: most });
    widen(shape.root, views, missing);
    return { ...shape, ...layOut(shape.root, { measure, rowHeight: ROW }) };
  };
  const room = width - MARGIN - EDGE;
  let best = null;
  for (const way of WAYS) {
    const drawing = draw(way);
    if (drawing.width <= room) {
      const whole = draw(way, Infinity); // with all names in full, if they fit after all
      return whole.width <= room ? whole : drawing;
    }
    if (!best || drawing.width < best.width) best = drawing;
  }
  return best;
}

// A group may have a longer name on one side than on the other, and both sides have the same shape.
function widen(box, views, missing) {
  if (box.isGroup) {
    const labels = views.map((view, at) => groupIn(box, view.statuses, missing[at]).label);
    box.label = labels.reduce((longest, label) => (measure(label) > measure(longest) ? label : longest));
  }
  for (const child of box.children) widen(child, views, missing);
}

// What follows from a difference is not drawn: both lines end one box after the deepest node that differs.
function cutBelow(tree, ends, differing) {
  const deepest = Math.max(...differing.map((node) => unitsTo(tree, node).length));
  const closed = new Set();
  const nodes = ends.map((end) => {
    const line = unitsTo(tree, end);
    const last = line[Math.min(line.length - 1, deepest)];
    closed.add(last.path);
    return last.outer;
  });
  return { nodes, closed };
}

function unitsTo(tree, node) {
  const line = [];
  for (const one of [...ancestorsOf(tree, node), node]) {
    if (!line.at(-1)?.members.includes(one)) line.push(unitOf(one));
  }
  return line;
}

export function Side({ tree, view, missing, drawing, marks, label, onChoose, onScroll }) {
  const cache = useRef(new Map());
  const ref = useRef(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const watcher = new ResizeObserver(([entry]) => setSize({ width: entry.contentRect.width, height: entry.contentRect.height }));
    watcher.observe(ref.current);
    return () => watcher.disconnect();
  }, []);
  const lit = litOn(tree, view, marks);
  const boxes = drawing.boxes.map((one) => ({ ...one, box: dressed(one.box, view, missing, lit) }));
  const byId = new Map(boxes.map((one) => [one.box.id, one.box]));
  const edges = drawing.edges.map((edge) => ({ ...edge, isLit: edge.id.split(">").every((id) => byId.get(id)?.isLit) })).sort((a, b) => a.isLit - b.isLit);
  const height = drawing.bottom - drawing.top;
  const y = Math.round((drawing.crumbs.length ? 46 : 20) - drawing.top + Math.max(0, (size.height - height - 70) * 0.4)) + 0.5;
  const needs = { width: drawing.width + MARGIN + EDGE, height: height + 70 };
  const target = boxes.findLast((one) => numberOf(one.box, marks)) ?? boxes.find((one) => one.box.isFocus);
  const [right, middle] = target ? [target.x + target.width + 2 * MARGIN, target.y + y] : [0, 0];
  // Where not all fits, what differs is in view.
  useLayoutEffect(() => { ref.current.scrollTo(right - size.width, middle - size.height / 2); }, [right, middle, size.width, size.height]);
  return html`<div class="side" ref=${ref} onScroll=${onScroll}>
    ${drawing.crumbs.length ? html`<p class="crumbs">${crumbWords(drawing.crumbs, view.turn)}</p>` : null}
    <svg class="tree" width=${Math.max(size.width, needs.width)} height=${Math.max(size.height, needs.height)} role="tree" aria-label=${label} onKeyDown=${walkKey} onClick=${(event) => onChoose(event.target.closest("[data-id]")?.dataset.id)}>
      <g role="none">${bands(drawing, marks, y, Math.max(size.width, needs.width))}</g>
      <g class="world" role="none" style=${{ transform: `translate(${MARGIN + 0.5}px,${y}px)` }}>
        <g role="none" aria-hidden="true">${edges.map((edge) => html`<path key=${edge.id} class=${`edge${edge.isLit ? " lit" : ""}`} d=${edge.d} />`)}</g>
        ${boxes.map((one, at) => {
          const its = { isPicked: false, isStop: false, isTabStop: at === 0, size: one.parent?.children.length ?? 1, place: (one.parent?.children.findIndex((each) => each.id === one.box.id) ?? 0) + 1, differs: numberOf(one.box, marks), aside: null };
          const key = boxKey(one, its);
          const kept = cache.current.get(one.box.id);
          if (kept?.key === key) return kept.vnode;
          const vnode = html`<${Box} key=${one.box.id} one=${one} its=${its} />`;
          cache.current.set(one.box.id, { key, vnode });
          return vnode;
        })}
      </g>
    </svg>
  </div>`;
}

function litOn(tree, view, marks) {
  const lit = new Set();
  const light = (node) => { if (node) for (const one of [...ancestorsOf(tree, node), node]) lit.add(one.path); };
  light(view.focus && tree.byPath.get(view.focus.path));
  // A node that differs and said yes on this side is part of what happened here.
  for (const path of marks.keys()) if (view.statuses.get(path)?.status === "success") light(tree.byPath.get(path));
  return lit;
}

function dressed(box, view, missing, lit) {
  if (box.isGroup) return { ...groupIn(box, view.statuses, missing), isLit: false };
  const status = statusOf(box.unit, view.statuses);
  const isFocus = Boolean(view.focus) && box.unit.members.some((one) => one.path === view.focus.path);
  return { ...box, status, isLit: lit.has(box.id), isFocus, decided: isFocus && status === "success" && view.decided != null, only: missing.has(box.id) };
}

const covers = (box, path) => !box.isGroup && (box.units ?? [box.unit]).some((unit) => unit.members.some((one) => one.path === path));
const numberOf = (box, marks) => [...marks].find(([path]) => covers(box, path))?.[1] ?? null;

function bands(drawing, marks, y, width) {
  const rows = new Set(drawing.boxes.filter((one) => numberOf(one.box, marks)).map((one) => one.y));
  return [...rows].map((row) => html`<rect key=${row} class="band" x="0" y=${y + row - ROW / 2 + 1} width=${width} height=${ROW - 2} />`);
}
