// Line icons of 16 px for controls.
import { html } from "./html.js";

const PATHS = {
  plus: "M8 3v10M3 8h10",
  sessions: "M2.5 3.5h11v7.5H7l-3 2.5V11H2.5z",
  search: "M7 2.8a4.2 4.2 0 1 0 0 8.4 4.2 4.2 0 0 0 0-8.4M10.2 10.2 13.4 13.4",
  settings: "M3 4.5h10M3 11.5h10M6 3v3M10 10v3",
  theme: "M8 1.8a6.2 6.2 0 1 0 0 12.4zM8 1.8a6.2 6.2 0 0 1 0 12.4",
  keys: "M1.8 4.3h12.4v7.4H1.8zM4.2 6.6h.1M6.8 6.6h.1M9.3 6.6h.1M11.8 6.6h.1M5 9.4h6",
  close: "M4 4l8 8M12 4l-8 8",
  lines: "M3 4h10M3 8h10M3 12h7",
  start: "M4 3.5v9M12 3.5 6.5 8l5.5 4.5z",
  back: "M10 3.5 5.5 8l4.5 4.5",
  play: "M5.5 3.3v9.4L12.5 8z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  on: "M6 3.5 10.5 8 6 12.5",
  end: "M12 3.5v9M4 3.5 9.5 8 4 12.5z",
  more: "M3.5 8h.1M8 8h.1M12.5 8h.1",
  branch: "M4.5 2.8v10.4M4.5 10c0-3 7-2 7-5.5M11.5 4.5V2.8",
  mind: "M3.6 8H7M7 8c2.4 0 1.6-4 4.4-4M7 8c2.4 0 1.6 4 4.4 4",
  left: "M9.5 4 5.5 8l4 4",
  right: "M6.5 4l4 4-4 4",
};

export function Icon({ name, size = 16 }) {
  return html`<svg width=${size} height=${size} viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.4"
    stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d=${PATHS[name]} /></svg>`;
}

/** The sign of the program: one root, two branches, one of them taken. */
export function Brand({ size = 18 }) {
  return html`<svg class="brand-mark" width=${size} height=${size} viewBox="0 0 18 18" aria-hidden="true">
    <path d="M4 9h4.5M8.5 9c3 0 2-5 5-5M8.5 9c3 0 2 5 5 5" fill="none" stroke="currentColor" stroke-width="1.5" />
    <circle cx="3.5" cy="9" r="2.5" fill="currentColor" />
    <circle cx="14.5" cy="4" r="2" fill="currentColor" />
    <circle cx="14.5" cy="14" r="1.8" fill="none" stroke="currentColor" stroke-width="1.3" />
  </svg>`;
}
