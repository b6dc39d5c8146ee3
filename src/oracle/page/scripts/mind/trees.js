// A place for the mind.
import { html } from "../html.js";

export function Trees() {
  return html`<div></div>`;
}
