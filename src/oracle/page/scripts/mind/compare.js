// A place for the mind.
import { html } from "../html.js";

export function Compare() {
  return html`<div></div>`;
}
