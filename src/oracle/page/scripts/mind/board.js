// A run that is held before a node: what is on the board, and the way on.
import { html } from "../html.js";
import { useStore } from "../store.js";
import { goOn } from "./card.js";

const LONG = 120;

export function HeldControls() {
  const { run } = useStore("run", "playhead");
  if (!run?.held) return null;
  return html`<span class="heldcontrols"><button class="button" onClick=${() => goOn(run, false)}>Go on</button><button class="button plain" onClick=${() => goOn(run, true)}>Step</button></span>`;
}

export function Board() {
  const { run } = useStore("run");
  if (!run?.held) return null;
  const entries = Object.entries(run.held.board ?? {}).filter(([, value]) => value !== null && value !== "" && !(Array.isArray(value) && value.length === 0));
  return html`<aside class="board floats" aria-label="The board">
    <h3>The board<span>${entries.length} keys with a value</span></h3>
    <dl tabindex="0">${entries.map(([key, value]) => html`<div key=${key}><dt><code>${key}</code></dt><dd title=${text(value)}>${shortly(text(value))}</dd></div>`)}</dl>
  </aside>`;
}

const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));
const shortly = (words) => (words.length > LONG ? `${words.slice(0, LONG)}…` : words);
