// The right pane: the sentence, the stage, the timeline, and the ledger with tools and prompt.
import { count } from "../format.js";
import { html, useEffect, useState } from "../html.js";
import { Icon } from "../icons.js";
import { onKey } from "../keys.js";
import { Mark } from "../marks.js";
import { set, state, useStore } from "../store.js";
import { Board, HeldControls } from "./board.js";
import { breakBefore, Card } from "./card.js";
import { Ledger } from "./ledger.js";
import * as looking from "./looking.js";
import { Outline } from "./outline.js";
import * as player from "./player.js";
import { Prompt } from "./prompt.js";
import { Sentence } from "./sentence.js";
import { shown } from "./shown.js";
import { Sources } from "./sources.js";
import { Timeline } from "./timeline.js";
import { Tools } from "./tools.js";
import { TreeStage } from "./tree.js";

const PHONE = "(max-width: 639px)";
const ONE_PANE = "(max-width: 1023px)";
const WIDE = "(min-width: 1800px)";
const DETAILS = [["path", "Path"], ["turn", "Turn"], ["all", "All"]];
const LEGEND = [["yes", "yes"], ["no", "no"], ["run", "running"], ["skip", "skipped"], ["halt", "halted"], ["idle", "not reached"]];

export function Mind() {
  const { stage, citation } = useStore("stage", "citation");
  const isPhone = useMedia(PHONE);
  const isWide = useMedia(WIDE);
  const pane = useMedia(ONE_PANE) ? "main" : "section"; // alone on the screen, it is what the page is about
  useKeys();
  useAddress();
  // From 1800 px on, Sources is a column of its own beside the chat, and the stage keeps the tree.
  const isBeside = isWide && citation != null;
  const isTree = stage !== "sources" || isBeside;
  return html`<${pane} class=${`mind${isPhone ? " narrow" : ""}`} id="mind" aria-label="The mind" tabindex="-1">
    <header class="telling"><h2 class="vh">What happens</h2><${Sentence} /><${HeldControls} /><${Stages} isTree=${isTree} hasStages=${!isBeside} isPhone=${isPhone} /></header>
    <h2 class="vh">${isTree ? "Tree" : "Sources"}</h2>
    ${isTree ? (isPhone ? html`<div class="stage"><${Outline} /><${Card} /></div>` : html`<${TreeStage}><${Legend} /><${Card} /><${Board} /></${TreeStage}>`) : html`<div class="stage"><${Sources} /></div>`}
    <${Timeline} />
    <${Lower} />
  </${pane}>`;
}

function Stages({ isTree, hasStages, isPhone }) {
  const { run } = useStore("run", "looking");
  const detail = looking.detailFor(run, 1000);
  return html`<span class="right">
    ${hasStages ? html`<span class="seg" role="group" aria-label="Stage">
      <button aria-pressed=${String(isTree)} title="Tree (t)" onClick=${() => set({ stage: "tree" })}>Tree</button>
      <button aria-pressed=${String(!isTree)} title="Sources (s)" onClick=${() => set({ stage: "sources" })}>Sources</button></span>` : null}
    ${isTree && !isPhone ? html`<span class="seg" role="group" aria-label="Detail">${DETAILS.map(([name, label], at) => html`<button key=${name} aria-pressed=${String(detail === name)} title=${`${label} (${at + 1})`} onClick=${() => looking.setDetail(name)}>${label}</button>`)}</span>` : null}
    ${!isTree ? html`<button class="icon" aria-label="Back to the tree" onClick=${() => set({ stage: "tree", citation: null })}><${Icon} name="close" /></button>` : null}
  </span>`;
}

function Legend() {
  const { run, looking: now } = useStore("run", "looking");
  if (!run?.tree) return null;
  const isAll = looking.detailFor(run, 1000) === "all";
  return html`<div class="legend" aria-hidden="true">${LEGEND.map(([mark, word]) => html`<span key=${mark}><${Mark} name=${mark} />${word}</span>`)}</div>
    ${isAll ? html`<div class="zoom" role="group" aria-label="Zoom"><button class="icon" aria-label="Zoom out" onClick=${looking.zoomOut}>−</button><span>${Math.round(now.zoom * 100)} %</span><button class="icon" aria-label="Zoom in" onClick=${looking.zoomIn}>+</button></div>` : null}`;
}

// Below 760 px of height the three are one line that opens over the stage.
function Lower() {
  const { run } = useStore("panels", "playhead");
  const [isOpen, setOpen] = useState(false);
  const view = run ? shown() : null;
  return html`<div class=${`lower${isOpen ? " open" : ""}`}>
    <button class="lowerline" aria-expanded=${String(isOpen)} onClick=${() => setOpen(!isOpen)}>${lineOf(view)}</button>
    <div class="lowerparts"><${Ledger} /><${Tools} /><${Prompt} /></div>
  </div>`;
}

/** "3 of 30 turns, 26,294 tokens, 4 tools". */
export function lineOf(view) {
  if (!view) return "Ledger, tools, prompt";
  const find = (name) => view.budgets.find((one) => one.name === name);
  const turns = find("turns");
  const tokens = find("tokens");
  const tools = view.tools.filter((one) => one.state === "offered").length;
  return [turns && `${turns.used} of ${turns.limit} turns`, tokens && `${count(tokens.used)} tokens`, `${tools} tools`].filter(Boolean).join(", ");
}

function useMedia(query) {
  const [fits, setFits] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const change = () => setFits(media.matches);
    media.addEventListener("change", change);
    return () => media.removeEventListener("change", change);
  }, [query]);
  return fits;
}

function useKeys() {
  useEffect(() => {
    const keys = {
      " ": player.playOrPause, ArrowLeft: () => player.stepOn(-1), ArrowRight: () => player.stepOn(1),
      "[": () => player.nextTurn(-1), "]": () => player.nextTurn(1), l: player.toEnd,
      t: () => set({ stage: "tree" }), s: () => set({ stage: "sources" }),
      1: () => looking.setDetail("path"), 2: () => looking.setDetail("turn"), 3: () => looking.setDetail("all"),
      "+": looking.zoomIn, "-": looking.zoomOut, 0: () => looking.zoomTo(1), f: toFocus, b: toggleBreak,
      Escape: () => (state.node ? set({ node: null }) : false),
    };
    const ends = Object.entries(keys).map(([key, act]) => onKey(key, () => (state.run || key === "t" || key === "s" ? act() : false)));
    return () => ends.forEach((end) => end());
  }, []);
}

function toFocus() {
  const focus = shown()?.focus;
  looking.toFocus();
  if (focus) set({ node: focus.path, stage: "tree" });
}

function toggleBreak() {
  const { run, node } = state;
  if (!run?.isLive || !node) return false;
  breakBefore(run, node, !state.looking.stops.has(node));
  return true;
}

// The address of a recording holds the moment and the node, so that both can be sent to a colleague.
function useAddress() {
  const { run, playhead, node, route } = useStore("run", "playhead", "node", "route");
  useEffect(() => {
    if (route.name !== "run" || !run?.tree || playhead.isPlaying) return;
    const view = shown();
    const query = new URLSearchParams();
    if (playhead.step != null) query.set("at", `${view.turn}.${view.step}`);
    if (node) query.set("node", node);
    const wanted = `${location.pathname}${query.size ? `?${query}` : ""}`;
    if (wanted !== `${location.pathname}${location.search}`) history.replaceState(history.state, "", wanted);
  }, [playhead.step, playhead.isPlaying, node, run?.tree]);
  useEffect(() => {
    if (route.name !== "run" || !run?.end) return;
    const { query } = route; // as it was on arrival
    const step = Number(query.get("at")?.split(".")[1]);
    if (step && playhead.step == null) player.goTo(step);
    if (query.get("node") && !node) set({ node: query.get("node") });
    if (query.get("play")) player.play();
  }, [run?.end]);
}
