// A place for the mind.
import { html } from "../html.js";

export function TreeAtRest() {
  return html`<div></div>`;
}
