// Sentences of the server name commands and settings in backticks, as in a terminal. Here they are set as code.
import { html } from "./html.js";

export const coded = (text) => (text ?? "").split("`").map((part, at) => (at % 2 ? html`<code key=${at}>${part}</code>` : part));
