// A field for Lua. What one types in is a plain text area; what one sees is the same text behind it, set as code.
import { paint } from "../code.js";
import { html, useLayoutEffect, useRef } from "../html.js";

export function Editor({ area, text, setText }) {
  const numbers = useRef(null);
  const shown = useRef(null);
  useLayoutEffect(() => paint(shown.current, `${text}\n`, "lua"), [text]);
  const follow = ({ target }) => {
    numbers.current.scrollTop = target.scrollTop;
    shown.current.scrollTo(target.scrollLeft, target.scrollTop);
  };
  return html`<div class="editor">
    <pre class="numbers" ref=${numbers} aria-hidden="true">${text.split("\n").map((_, at) => at + 1).join("\n")}</pre>
    <pre class="shown" ref=${shown} aria-hidden="true"></pre>
    <textarea ref=${area} spellcheck="false" autocapitalize="off" autocomplete="off" wrap="off" aria-label="Lua of this tree, a copy" value=${text}
      onInput=${(event) => setText(event.target.value)} onScroll=${follow}></textarea></div>`;
}
