// The tree at rest, for the first visit: a row for each part with what it is for. The loop goes back by a dashed line.
import { html } from "../html.js";
import { Mark } from "../marks.js";
import { measure } from "./measure.js";
import { glyph } from "./glyphs.js";

const ROW = 38;
const INDENT = 40;
const HALF = 11;
const TEXT = 238;
const GLYPHS = { loop: "loop", selector: "selector", sequence: "sequence" };

/** What the first HTML shows is shown until the tree of this project is known. */
const FIRST = globalThis.document?.querySelector(".first-paint svg.atrest")?.outerHTML ?? "";

export function TreeAtRest({ outline }) {
  const rows = outline.map((one, at) => rowOf(one, at));
  if (!rows.length) return html`<div class="atrest is-waiting" dangerouslySetInnerHTML=${{ __html: FIRST }}></div>`;
  const height = rows.length * ROW;
  const right = Math.max(TEXT, ...rows.map((row) => row.x + row.width + 34));
  return html`<svg class="tree still atrest" width="520" height=${height} viewBox=${`-0.5 -0.5 520 ${height}`} role="list" aria-label="The parts of the tree">
    <g aria-hidden="true">${edgesOf(rows)}${loopBack(rows)}</g>
    ${rows.map((row) => html`<g key=${row.path} class=${`node idle ${row.shape}`} role="listitem" aria-label=${`${row.name}: ${row.description}`} transform=${`translate(${row.x} ${row.y})`}>
      ${row.nodes > 1 && row.kind !== "loop" ? html`<path class="back" d=${`M${row.width} -8q3 0 3 3v10q0 3 -3 3`} />` : null}
      ${row.shape === "tag" ? html`<path class="shape" d=${`M9 ${-HALF}H${row.width - 4}q4 0 4 4v14q0 4 -4 4H9L.5 0Z`} />` : html`<rect class="shape" y=${-HALF} width=${row.width} height="22" rx="4" />`}
      <${Mark} name="idle" x=${row.mark} y="-6" />
      ${row.glyph ? glyph(row.glyph, row.mark + 15, -6) : null}
      <text class="name" x=${row.text} y="4">${row.name}</text>
      ${row.nodes > 1 && row.kind !== "loop" ? html`<text class="count" x=${row.width - 8} y="4" text-anchor="end">${row.nodes}</text>` : null}
      <text class="d" x=${right - row.x} y="4">${row.description}</text>
    </g>`)}
  </svg>`;
}

function rowOf(one, at) {
  const shape = /always_succeed|guard/.test(one.kind) ? "tag" : "box";
  const sign = GLYPHS[one.kind] ?? null;
  const mark = shape === "tag" ? 13 : 8;
  const text = mark + 17 + (sign ? 16 : 0);
  const counted = one.nodes > 1 && one.kind !== "loop" ? measure(String(one.nodes), false) + 9 : 0;
  return { ...one, shape, glyph: sign, mark, text, x: 20 + one.depth * INDENT, y: at * ROW + ROW / 2, width: Math.ceil(text + measure(one.name, false) + counted + 10) };
}

// One trunk for the rows of a depth, and a branch for each of them.
function edgesOf(rows) {
  const parentOf = (row, at) => rows.slice(0, at).findLast((one) => one.depth < row.depth) ?? null;
  const trunks = new Map();
  const branches = rows.map((row, at) => {
    const parent = parentOf(row, at);
    const x = parent ? parent.x + 20 : 0;
    trunks.set(parent, { x, top: trunks.get(parent)?.top ?? (parent ? parent.y + HALF : row.y + 6), bottom: row.y - 6 });
    return html`<path key=${row.path} class="edge" d=${!parent && at === 0 ? `M0 ${row.y + 6}Q0 ${row.y} 6 ${row.y}H${row.x}` : `M${x} ${row.y - 6}Q${x} ${row.y} ${x + 6} ${row.y}H${row.x}`} />`;
  });
  return [...[...trunks.values()].map((one) => html`<path key=${`trunk${one.x}`} class="edge" d=${`M${one.x} ${one.top}V${one.bottom}`} />`), ...branches];
}

function loopBack(rows) {
  const loop = rows.find((row) => row.kind === "loop");
  const last = loop && rows.findLast((row) => row.depth > loop.depth);
  if (!last) return null;
  const x = Math.max(...rows.filter((row) => row.depth > loop.depth).map((row) => row.x + row.width)) + 14;
  const start = last.x + last.width + 5;
  return html`<path class="edge loopback" d=${`M${start} ${last.y}H${x - 6}Q${x} ${last.y} ${x} ${last.y - 6}V${loop.y + 6}Q${x} ${loop.y} ${x - 6} ${loop.y}H${loop.x + loop.width + 6}`} /><path class="edge" d=${`M${loop.x + loop.width + 10} ${loop.y - 4}l-4 4 4 4`} />`;
}
