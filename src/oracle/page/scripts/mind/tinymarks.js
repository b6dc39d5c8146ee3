// The marks of an overview, where a node is its mark alone. They are larger, and drawn at their place in the whole
// drawing: each transform is a layer more that the browser looks through in each frame, and there are hundreds.
import { html } from "../html.js";

const disc = (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;

// Of each mark what is filled, what is a line, and what is cut out of the filled; x and y are its middle.
const PARTS = {
  yes: (x, y) => ({ filled: disc(x, y, 8.8), cut: `M${x - 4.2} ${y + 0.3}l3 2.9 5.5-6.1` }),
  no: (x, y) => ({ line: `${disc(x, y, 8)}M${x - 3} ${y - 3}l6 6m0-6l-6 6` }),
  run: (x, y) => ({ line: disc(x, y, 8), filled: disc(x, y, 4) }),
  skip: (x, y) => ({ line: `M${x - 6.4} ${y}h5m3 0h5` }),
  idle: (x, y) => ({ line: disc(x, y, 3.2) }),
  halt: (x, y) => ({ filled: `M${x - 7.2} ${y - 7.2}h14.4v14.4h-14.4z`, cut: `M${x - 4} ${y}h8` }),
  err: (x, y) => ({ filled: `M${x} ${y - 8.4}l9 16.4h-18z`, cut: `M${x} ${y - 2.4}v4.8m0 3v.3` }),
};

export function tinyMark(name, x, y, key) {
  const { filled, line, cut } = (PARTS[name] ?? PARTS.idle)(x, y);
  return html`<g key=${key} class=${`mark m-${name}`} aria-hidden="true">
    ${filled ? html`<path class="filled" d=${filled} />` : null}${line ? html`<path class="line" d=${line} />` : null}${cut ? html`<path class="knock" d=${cut} />` : null}
  </g>`;
}
