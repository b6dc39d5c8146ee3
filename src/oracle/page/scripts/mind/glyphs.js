// Signs for the kinds of nodes, drawn in a square of 12.
import { html } from "../html.js";

const PATHS = {
  sequence: "M2 6h7.4M6.6 3.2 9.4 6 6.6 8.8",
  selector: "M4 4.4a2 2 0 1 1 3 1.7c-.7.4-1 .8-1 1.5M6 9.9v.1",
  reactive: "M2 4.2h7.6M7.6 2.2l2 2-2 2M10 8.2H2.4M4.4 6.2l-2 2 2 2",
  loop: "M9.8 4.2A4.3 4.3 0 1 0 10.3 6.6M10 1.8v2.6H7.4",
  parallel: "M2 4h7.4M7.4 2l2 2-2 2M2 8.4h7.4M7.4 6.4l2 2-2 2",
  ladder: "M3.4 1.8v8.4M8.6 1.8v8.4M3.4 4.2h5.2M3.4 7.6h5.2",
  exit: "M6 2H2.6v8H6M5.4 6h5M8.4 4l2 2-2 2",
  later: "M6 2.2a3.8 3.8 0 1 0 0 7.6 3.8 3.8 0 0 0 0-7.6M6 3.9V6l1.6 1",
  timeout: "M6 2.2a3.8 3.8 0 1 0 0 7.6 3.8 3.8 0 0 0 0-7.6M6 3.9V6l1.6 1",
  once: "M4.6 3.6 6.2 2.6v7",
  retry: "M9.8 4.2A4.3 4.3 0 1 0 10.3 6.6M10 1.8v2.6H7.4",
  repeat: "M9.8 4.2A4.3 4.3 0 1 0 10.3 6.6M10 1.8v2.6H7.4",
  cooldown: "M6 2v8M2.6 4l6.8 4M9.4 4 2.6 8",
  invert: "M2.6 7c1.2-2.6 2.3-2.6 3.4-1s2.2 1.6 3.4-1",
  always_succeed: "M3 6.2 5.2 8.4 9.2 3.8",
  always_fail: "m3.6 3.6 4.8 4.8m0-4.8L3.6 8.4",
  deferred: "M2.4 3v6M5 3.4 9.6 6 5 8.6z",
};

export function glyph(name, x, y) {
  return html`<path class="glyph" transform=${`translate(${x} ${y})`} d=${PATHS[name] ?? PATHS.sequence} />`;
}

/** A decorator: a small hexagon on the edge before its child. */
export function hexagon(node, x) {
  return html`<g class="hex" transform=${`translate(${x} 0)`}>
    <title>${`${node.name ?? node.kind} (${node.kind.replaceAll("_", " ")})`}</title>
    <path class="shape" d="M0 0 7.5 -11H22.5L30 0 22.5 11H7.5Z" />
    ${glyph(node.kind, 9, -6)}
  </g>`;
}
