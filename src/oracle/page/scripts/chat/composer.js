// The field for a question.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { state, useStore } from "../store.js";
import { onKey } from "../keys.js";
import { ask, endEdit, liveExchange, stop } from "./asking.js";

const LONGEST = 1_000_000;

export function Composer({ placeholder = "Ask something else…", isFirst }) {
  useStore("session", "editing", "connection");
  const field = useRef(null);
  const [text, setText] = useState("");
  const editing = state.session?.editing ?? null;
  const live = liveExchange();

  useEffect(() => onKey("/", () => field.current.focus()), []);
  useEffect(() => {
    if (isFirst && !matchMedia("(pointer: coarse)").matches) field.current.focus();
  }, []);
  useEffect(() => {
    if (!editing) return;
    setText(editing.question);
    field.current.focus();
  }, [editing?.id]);
  // Browsers that cannot size a field by its content are helped.
  useLayoutEffect(() => {
    if (CSS.supports("field-sizing", "content")) return;
    field.current.style.height = "auto";
    field.current.style.height = `${field.current.scrollHeight}px`;
  }, [text]);

  const send = (event) => {
    event?.preventDefault();
    const question = text.trim();
    if (live) return;
    if (!question) {
      field.current.focus();
      return;
    }
    setText("");
    if (editing) ask(question, editing.parentId);
    else ask(question);
  };
  const onKeyDown = (event) => {
    // Enter that ends the choice of a character in an input method is not an Enter.
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event);
    if (event.key === "Escape" && editing) {
      event.preventDefault();
      setText("");
      endEdit();
    }
  };
  return html`<form class="composer" onSubmit=${send}>
    <label class="vh" for="question">Question</label>
    <textarea id="question" ref=${field} rows="1" maxlength=${LONGEST} placeholder=${live ? "Ask something else…" : placeholder} value=${text}
      enterkeyhint="send" onInput=${(event) => setText(event.target.value)} onKeyDown=${onKeyDown}></textarea>
    <div class="row">
      ${live
        ? html`<span>It goes on if you close this page.</span>
            <button type="button" class="button plain" data-act="stop" disabled=${live.isStopping} onClick=${stop}>
              <span class="stop-square"></span>${live.isStopping ? "Stopping" : "Stop"}<kbd>esc</kbd></button>`
        : html`<span class="hint">${editing
              ? html`<kbd>↵</kbd><span>ask as a branch</span><kbd>esc</kbd><span>leave it</span>`
              : html`<kbd>↵</kbd><span>ask</span><kbd>⇧↵</kbd><span>new line</span>`}</span>
            <button type="submit" class="button">Ask</button>`}
    </div>
  </form>`;
}
