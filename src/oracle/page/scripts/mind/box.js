// One box of the tree as SVG. Its place is its own origin: the middle of its left edge.
import { count } from "../format.js";
import { html } from "../html.js";
import { useStore } from "../store.js";
import { markAt as drawMark, markOf } from "../marks.js";
import { glyph, hexagon } from "./glyphs.js";
import { HEX } from "./layout.js";
import { tinyMark } from "./tinymarks.js";
import { boxName, statusClass } from "./words.js";

/** Everything that decides how a box looks. A box with the same key is not touched. */
export function boxKey(one, state) {
  const { box } = one;
  return [
    one.x, one.y, one.width, box.label, box.count, box.status, box.isLit, box.isFocus, box.decided, box.isFolded, box.isGlyph,
    box.only, box.step, state.isPicked, state.isStop, state.isTabStop, state.differs, state.aside, state.place,
  ].join("|");
}

/** A component, because of those the renderer skips one that is the same object as before. It looks into elements. */
export function Box({ one, its: state }) {
  const { box, width } = one;
  const classes = ["node", statusClass(box.status), box.shape];
  if (box.isLit) classes.push("lit");
  if (box.isLeaf && box.status === "running" && box.isFocus) classes.push("leaf");
  if (box.decided) classes.push("decided");
  if (state.isPicked) classes.push("picked");
  if (state.differs) classes.push("differs");
  if (box.only) classes.push("absent");
  const markAt = box.shape === "tag" ? 13 : 8;
  const textAt = markAt + 18 + (box.glyph ? 16 : 0);
  const isOpen = !box.isFolded && box.children.length > 0;
  const at = `translate(${one.x}px,${one.y}px)`;
  return html`<g class=${classes.join(" ")} style=${state.isTiny ? undefined : { transform: at }}
    role="treeitem" aria-label=${boxName(box, state.differs)} aria-level=${one.column + 1} aria-setsize=${state.size} aria-posinset=${state.place}
    aria-expanded=${box.isLeaf ? undefined : String(isOpen)} aria-selected=${String(Boolean(state.isPicked))}
    tabindex=${state.isTabStop ? 0 : -1} data-id=${box.id}>
    <title>${box.fullLabel ?? box.label}</title>
    ${state.isTiny ? tiny(one, markAt, state) : whole(box, width, { markAt, textAt }, state)}
  </g>${state.aside && !state.isTiny ? html`<g class="besides-node" style=${{ transform: at }}><${SoFar} y=${state.aside === "below" ? 27 : -19} /></g>` : null}`;
}

// Below half of its size nothing of a box can be read but its mark. It has no origin of its own: see tinymarks.js.
function tiny({ box, x, y, width }, markAt, state) {
  return html`${outline(box, width, x, y)}${state.isStop ? html`<circle class="stop" cx=${x - 7} cy=${y} r="4" />` : null}${tinyMark(markOf(box.status), x + markAt + 6, y, `m${box.step}`)}`;
}

function whole(box, width, { markAt, textAt }, state) {
  return html`${box.isGlyph ? null : box.wrappers.map((node, at) => hexagon(node, (at - box.wrappers.length) * (HEX + 10)))}
    ${box.isFocus && box.status === "running" ? html`<rect class="halo" x="-4" y="-15" width=${width + 8} height="30" rx="8" />` : null}
    ${box.isFolded && box.count > 0 ? html`<path class="back" d=${`M${width} -8q3 0 3 3v10q0 3 -3 3`} />` : null}
    ${outline(box, width)}
    ${state.isStop ? html`<circle class="stop" cx="-7" cy="0" r="4" />` : null}
    ${drawMark(markOf(box.status), markAt, -6, `m${box.step}`)}
    ${box.glyph ? glyph(box.glyph, markAt + 16, -6) : null}
    ${box.isGlyph ? null : html`<text class="name" x=${textAt} y="4">${box.label}</text>`}${" "}
    ${!box.isGlyph && box.isFolded && box.count > 0 ? html`<text class="count" data-open x=${width - 8} y="4" text-anchor="end">${box.count}</text>` : null}
    ${state.differs ? html`${" "}${badge(state.differs, width)}` : null}`;
}

/** How much has been written: beside the box and not in it, whose name it is not part of. It changes with each piece of text, and the box around it does not. */
function SoFar({ y }) {
  const { run } = useStore("text");
  const text = run?.texts.at(-1);
  const isNow = text && text.turn === run.models.at(-1)?.turn;
  return html`<text class="aside" aria-hidden="true" x="2" y=${y}>${isNow ? `${count(text.length)} characters so far` : ""}</text>`;
}

function outline(box, width, x = 0, y = 0) {
  if (box.shape === "tag") {
    return html`<path class="shape" d=${`M${x + 9} ${y - 11}h${width - 13}q4 0 4 4v14q0 4 -4 4h${13 - width}l-8.5 -11Z`} />`;
  }
  return html`<rect class="shape" x=${x} y=${y - 11} width=${width} height="22" rx=${box.shape === "capsule" ? 11 : 4} />`;
}

function badge(number, width) {
  return html`<g class="badge" aria-hidden="true" transform=${`translate(${width - 1} -11)`}><circle r="8" /><text y="4" text-anchor="middle">${number}</text></g>`;
}
