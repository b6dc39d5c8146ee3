// The marks of the page. Each has a shape of its own, so that no meaning depends on colour alone.
import { html } from "./html.js";

const ROUND = { "stroke-linecap": "round", "stroke-linejoin": "round", fill: "none" };

// Drawn in a square of 12.
const SHAPES = {
  yes: html`<circle cx="6" cy="6" r="5.5" fill="currentColor" /><path class="knock" d="M3.4 6.2 5.3 8l3.4-3.8" stroke-width="1.5" ...${ROUND} />`,
  no: html`<circle cx="6" cy="6" r="5" fill="none" stroke="currentColor" /><path d="m4.1 4.1 3.8 3.8m0-3.8L4.1 7.9" stroke="currentColor" stroke-width="1.2" ...${ROUND} />`,
  run: html`<circle cx="6" cy="6" r="5" fill="none" stroke="currentColor" stroke-width="1.4" /><circle cx="6" cy="6" r="2.5" fill="currentColor" />`,
  skip: html`<path d="M2 6h8" stroke="currentColor" stroke-width="1.4" stroke-dasharray="1.6 2.4" ...${ROUND} />`,
  idle: html`<circle cx="6" cy="6" r="2" fill="none" stroke="currentColor" />`,
  halt: html`<rect x="1.5" y="1.5" width="9" height="9" rx="1" fill="currentColor" /><path class="knock" d="M3.5 6h5" stroke-width="1.6" />`,
  err: html`<path d="M6 .8 11.6 11H.4z" fill="currentColor" /><path class="knock" d="M6 4.4v3M6 9v.2" stroke-width="1.4" ...${ROUND} />`,
  diff: html`<path d="m6 .6 5.4 5.4L6 11.4.6 6z" fill="currentColor" /><path class="knock" d="M4 6h4M6 4v4" stroke-width="1.3" ...${ROUND} />`,
  held: html`<rect x="2.5" y="5.5" width="7" height="5" rx="1" fill="none" stroke="currentColor" /><path d="M4 5.5V4a2 2 0 0 1 4 0v1.5" fill="none" stroke="currentColor" />`,
  info: html`<circle cx="6" cy="6" r="5" fill="none" stroke="currentColor" /><path d="M6 5.4v3M6 3.4v.1" stroke="currentColor" stroke-width="1.4" ...${ROUND} />`,
  person: html`<circle cx="6" cy="3.8" r="2.2" fill="none" stroke="currentColor" /><path d="M1.8 10.8c.4-2.4 2-3.6 4.2-3.6s3.8 1.2 4.2 3.6" stroke="currentColor" ...${ROUND} />`,
  fold: html`<path d="m4.5 3 3 3-3 3" stroke="currentColor" stroke-width="1.4" ...${ROUND} />`,
};

// Drawn in a square of 14.
const SIGNALS = {
  need_turn: html`<circle cx="7" cy="7" r="6" class="ground" stroke="currentColor" stroke-width="1.4" /><path d="M4.6 7h4.6M7.4 5l2 2-2 2" stroke="currentColor" stroke-width="1.3" ...${ROUND} />`,
  context_sufficient: html`<circle cx="7" cy="7" r="6.7" fill="currentColor" /><path class="knock" d="M4 7.2 6.1 9.2l4-4.3" stroke-width="1.6" ...${ROUND} />`,
  stuck: html`<circle cx="7" cy="7" r="6" class="ground" stroke="currentColor" stroke-width="1.4" /><path d="M4.2 7h5.6" stroke="currentColor" stroke-width="2" ...${ROUND} />`,
  need_capability: html`<circle cx="4.4" cy="7" r="2.7" class="ground" stroke="currentColor" stroke-width="1.4" /><path d="M7.1 7h5.6M12.4 7v2.6M9.9 7v2" stroke="currentColor" stroke-width="1.4" ...${ROUND} />`,
  partial_answer: html`<circle cx="7" cy="7" r="6" class="ground" stroke="currentColor" stroke-width="1.4" /><path d="M7 1.6a5.4 5.4 0 0 1 0 10.8z" fill="currentColor" />`,
  delegation_recommended: html`<circle cx="7" cy="7" r="6.6" class="ground" /><path d="M1.5 7h4M5.5 7c3 0 2-4 5.5-4M5.5 7c3 0 2 4 5.5 4" stroke="currentColor" stroke-width="1.4" ...${ROUND} /><circle cx="11.8" cy="3" r="1.4" fill="currentColor" /><circle cx="11.8" cy="11" r="1.4" fill="currentColor" />`,
  malformed: html`<circle cx="7" cy="7" r="6" class="ground" stroke="currentColor" stroke-width="1.4" stroke-dasharray="4 3" />`,
  none: html`<path d="M3 7h2.4M8.6 7H11" stroke="currentColor" stroke-width="1.4" ...${ROUND} />`,
  halted: html`<rect x="2.2" y="2.2" width="9.6" height="9.6" rx="1" fill="currentColor" /><path class="knock" d="M4.4 7h5.2" stroke-width="1.7" />`,
};

/** A mark. With a `label` it is read aloud; without one the text beside it must say the same. */
export function Mark({ name, size = 12, label, x, y }) {
  return drawing(`m-${name}`, "0 0 12 12", SHAPES[name] ?? SHAPES.idle, { size, label, x, y });
}

/** A mark inside of a larger drawing: there it needs no frame of its own, and a tree has hundreds of them. */
export function markAt(name, x, y, key) {
  return html`<g key=${key} class=${`mark m-${name}`} transform=${`translate(${x} ${y})`} aria-hidden="true">${SHAPES[name] ?? SHAPES.idle}</g>`;
}

export function SignalMark({ type, size = 14, label, x, y }) {
  return drawing(`sig-mark s-${type}`, "0 0 14 14", SIGNALS[type] ?? SIGNALS.malformed, { size, label, x, y });
}

function drawing(name, box, shape, { size, label, x, y }) {
  const told = label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" };
  return html`<svg class=${name} viewBox=${box} width=${size} height=${size} x=${x} y=${y} ...${told}>${shape}</svg>`;
}

const OF_STATUS = { running: "run", success: "yes", failure: "no", skipped: "skip", halted: "halt", error: "err" };

/** The mark of a node's status; without one it was not reached. */
export const markOf = (status) => OF_STATUS[status] ?? "idle";
