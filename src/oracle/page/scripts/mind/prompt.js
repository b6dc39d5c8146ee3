// Told what: the segments of the prompt with their tokens, and what was added in mid-run.
import { count } from "../format.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { useStore } from "../store.js";

export function Prompt() {
  const { run } = useStore("panels");
  const [open, setOpen] = useState(null);
  const segments = run?.prompt?.segments ?? [];
  const added = run?.prompt?.added ?? [];
  const total = segments.reduce((sum, one) => sum + one.tokens, 0);
  return html`<section class="prompt" aria-labelledby="prompt-heading">
    <h3 id="prompt-heading">Prompt <span>${segments.length ? `${count(total)} tokens` : ""}${added.length ? html` <button class="plainlink" aria-label=${`${added.length} added in mid-run`} title=${`${added.length} added in mid-run`} onClick=${() => setOpen(together(added))}>+${added.length}</button>` : null}</span></h3>
    ${segments.length ? html`<${Bar} segments=${segments} total=${total} />` : null}
    <ul class="segments">
      ${segments.map((one) => html`<li key=${one.name}><button disabled=${!one.text} onClick=${() => setOpen(one)}>${one.name}${one.count > 1 ? html` <small>×${count(one.count)}</small>` : null}</button><span>${count(one.tokens)}</span></li>`)}
    </ul>
    ${segments.length === 0 ? html`<p class="nothing">What the model is given first.</p>` : null}
    ${open ? html`<${PromptText} segment=${open} onClose=${() => setOpen(null)} />` : null}
  </section>`;
}

function together(added) {
  return { name: "added in mid-run", tokens: added.reduce((sum, one) => sum + one.tokens, 0), text: added.map((one) => `turn ${one.turn}, ${one.name}:\n${one.text}`).join("\n\n") };
}

function Bar({ segments, total }) {
  const words = segments.map((one) => `${one.name} ${Math.round((one.tokens / total) * 100)} %`).join(", ");
  return html`<div class="segbar" role="img" aria-label=${`Shares of the prompt: ${words}`}>${segments.map((one) => html`<i key=${one.name} style=${{ flexGrow: one.tokens }}></i>`)}</div>`;
}

function PromptText({ segment, onClose }) {
  const ref = useRef(null);
  useEffect(() => {
    const before = document.activeElement;
    ref.current.focus();
    return () => before?.focus?.();
  }, []);
  const onKeyDown = (event) => { if (event.key === "Escape") { event.stopPropagation(); onClose(); } };
  return html`<div class="prompttext floats" role="dialog" aria-label=${`Prompt: ${segment.name}`} tabindex="-1" ref=${ref} onKeyDown=${onKeyDown}>
    <header><b>${segment.name}</b><span>${count(segment.tokens)} tokens</span><button class="plainlink" onClick=${onClose}>Close</button></header>
    <pre tabindex="0">${segment.text}</pre>
  </div>`;
}
