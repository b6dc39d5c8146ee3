// What a run did before its answer: a row for each turn, which opens.
import { html, useState } from "../html.js";
import { Mark, SignalMark } from "../marks.js";
import { set } from "../store.js";
import { count } from "../format.js";
import { callWords, turnWords, verdictWords } from "../words.js";

/** `turns` are those to show; the last one of a live run is under way. Of `expected`, those to come have a place. */
export function Steps({ turns, isLive, expected = 0 }) {
  const missing = Math.max(0, expected - turns.length);
  if (!turns.length && !missing) return null;
  return html`<ol class="steps" aria-label="What it did">
    ${turns.map((turn, index) => html`<${Step} key=${turn.turn} turn=${turn} isUnderWay=${isLive && index === turns.length - 1 && !turn.outcome} />`)}
    ${Array.from({ length: missing }, (_, at) => html`<li key=${`place ${at}`} class="step-place is-waiting" aria-hidden="true"><span class="bone"></span></li>`)}
  </ol>`;
}

function Step({ turn, isUnderWay }) {
  const [isOpen, setOpen] = useState(false);
  const signal = turn.signal;
  return html`<li>
    <button type="button" class=${`step-row${isUnderWay ? " is-live" : ""}`} aria-expanded=${isOpen ? "true" : "false"} onClick=${() => setOpen(!isOpen)}>
      <${Mark} name="fold" />
      <span class="t">Turn ${turn.turn}</span>
      <span class="what">${isUnderWay && !turn.calls.length ? "the model is asked" : turnWords(turn)}</span>
      ${signal && html`<span class="sig"><${SignalMark} type=${signal.type} size=${12} /><b>${signal.type}</b> ${signal.confidence?.toFixed(2)}</span>`}
    </button>
    ${isOpen && html`<${Inside} turn=${turn} />`}
  </li>`;
}

function Inside({ turn }) {
  const { verdict, signal } = turn;
  const draft = turn.text.trim();
  return html`<div class="step-body">
    ${turn.reasoning.trim() && html`<p class="draft">${turn.reasoning.trim()}</p>`}
    ${draft && html`<p class="draft" tabindex="0" role="group" aria-label=${`Draft of turn ${turn.turn}`}>${draft}</p>`}
    ${turn.calls.length > 0 && html`<ul class="calls">${turn.calls.map((call) => html`<${Call} key=${call.id} call=${call} />`)}</ul>`}
    ${signal && html`<p class="ruling"><b>${signal.type}</b>${reasonOf(signal)}</p>`}
    ${verdict && html`<p class="ruling">The tree: <button type="button" class="link" onClick=${() => set({ node: verdict.node, stage: "tree", isMindHidden: false, tab: "mind" })}>${verdictWords(verdict.verdict)}</button>${verdict.reason && verdict.reason !== signal?.reason ? `. ${verdict.reason}` : ""}</p>`}
    ${turn.tokens > 0 && html`<p class="ruling num">${count(turn.tokens)} tokens</p>`}
  </div>`;
}

const reasonOf = (signal) => {
  const told = signal.reason ?? signal.blocker ?? signal.missing ?? signal.capability;
  return told ? `: ${told}` : "";
};

function Call({ call }) {
  const { result } = call;
  const mark = !result ? "run" : result.isGood ? "yes" : result.wasRun === false ? "halt" : "no";
  const label = !result ? "running" : result.isGood ? "done" : result.wasRun === false ? "not run" : "failed";
  return html`<li>
    <${Mark} name=${mark} label=${label} /><code>${callWords(call)}</code>
    <span class="quiet num">${result?.sources ? `${result.sources} found` : ""}</span>
    ${result && !result.isGood && html`<span class="said">${result.text.slice(0, 300)}</span>`}
  </li>`;
}
