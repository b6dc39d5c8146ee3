// The signals of a run, which are also its player.
import { count, money, seconds } from "../format.js";
import { html, useLayoutEffect, useMemo, useRef, useState } from "../html.js";
import { Icon } from "../icons.js";
import { SignalMark } from "../marks.js";
import { state, useStore } from "../store.js";
import { lanesOf, placeOf, stepAt } from "./lanes.js";
import { measure } from "./measure.js";
import * as player from "./player.js";
import { useShown } from "./shown.js";
import { statusWord } from "./words.js";

const GUTTER = 58;
const TOP = 26; // confidence 1
const ZERO = 82; // confidence 0
const MODEL = 92;
const TOOLS = 107;
const WEAK = 0.3;
const NARROW = 128; // a column below this has no room for a signal's name
const LABEL = 128; // the longest name of a signal beside its mark
const VERY_NARROW = 64;
const ROOMY = 230; // and from here on there is room for what the turn took

export function Timeline() {
  const { run, playhead } = useStore("panels", "playhead", "text", "connection");
  const view = useShown("panels");
  const [byTime, setByTime] = useState(false);
  return html`<section class="time" aria-labelledby="signals-heading">
    <header>
      <h3 class="label" id="signals-heading">Signals</h3>
      <${Transport} playhead=${playhead} run=${run} />
      <span class="at">${player.placeWords(run, view)}</span>
      <span class="right">
        ${run && !run.isLive && playhead.step != null ? html`<${Speeds} speed=${playhead.speed} />` : null}
        <button class="plainlink" aria-pressed=${String(byTime)} onClick=${() => setByTime(!byTime)}>${byTime ? "by time" : "by turn"}</button>
        ${ending(run, view, playhead)}
      </span>
    </header>
    ${run?.tree ? html`<${Lanes} run=${run} view=${view} byTime=${byTime} />` : html`<div class="lanes-place"></div>`}
  </section>`;
}

function ending(run, view, playhead) {
  if (!run) return null;
  if (run.isLive) {
    const isLive = view?.isLive && state.connection === "up";
    return html`<button class=${`livechip${isLive ? "" : " away"}`} onClick=${player.toEnd} title="To the live end (l)"><i></i>Live</button>`;
  }
  return html`<button class="plainlink" onClick=${playhead.isPlaying ? player.pause : () => { player.toEnd(); player.play(); }}>${playhead.isPlaying ? "Pause" : "Play again"}</button>`;
}

function Transport({ run }) {
  const isRunning = player.isRunning();
  const buttons = [
    ["start", "To the start", player.toStart], ["back", "Step back", () => player.stepOn(-1)],
    [isRunning ? "pause" : "play", isRunning ? "Pause" : "Play", player.playOrPause],
    ["on", "Step on", () => player.stepOn(1)], ["end", "To the end", player.toEnd],
  ];
  return html`<span class="transport" role="group" aria-label="Player">
    ${buttons.map(([icon, label, act]) => html`<button key=${label.length} class=${icon === "play" || icon === "pause" ? "play" : ""} aria-label=${label} title=${label} disabled=${!run?.tree} onClick=${act}><${Icon} name=${icon} size=${14} /></button>`)}
  </span>`;
}

export function Speeds({ speed, onChoose = player.setSpeed }) {
  return html`<span class="seg small" role="group" aria-label="Speed">${player.SPEEDS.map((one) => html`<button key=${one} aria-pressed=${String(one === speed)} onClick=${() => onChoose(one)}>${one === 0.25 ? "¼" : one}×</button>`)}</span>`;
}

function Lanes({ run, view, byTime }) {
  const ref = useRef(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const watcher = new ResizeObserver(([entry]) => setWidth(Math.round(entry.contentRect.width)));
    watcher.observe(ref.current);
    return () => watcher.disconnect();
  }, []);
  const lanes = useMemo(() => (width ? lanesOf(run, { width: width - 8, left: GUTTER, byTime, label: LABEL }) : null), [run, run.version, run.isLive && run.at, width, byTime]);
  return html`<div class="lanes-place" ref=${ref}>${lanes ? drawn(run, view, lanes, width) : null}</div>`;
}

function drawn(run, view, lanes, width) {
  const place = placeOf(run, state.playhead.step);
  const head = Math.max(lanes.left, lanes.xOf(place));
  const current = lanes.columns.findLast((column) => place.step > column.from.step) ?? lanes.columns[0];
  const rows = Math.max(1, ...lanes.calls.map((call) => call.row + 1));
  const height = Math.max(132, TOOLS + Math.min(rows, 6) * 6 + 6);
  const scrub = (event) => player.goTo(stepAt(run, lanes, event.clientX - event.currentTarget.getBoundingClientRect().left));
  const drag = (event) => { if (event.buttons === 1) scrub(event); };
  return html`<svg class="lanes" width=${width} height=${height} onPointerDown=${(event) => { event.currentTarget.setPointerCapture(event.pointerId); scrub(event); }} onPointerMove=${drag}>
      ${current ? html`<rect class="wash" x=${current.x} y="0" width=${current.width} height=${height} rx="6" />` : null}
      ${grid(lanes, width, height)}
      <g class="head" transform=${`translate(${head} 0)`} aria-hidden="true"><line y1="0" y2=${height} /><path d="M-5 0h10v3l-5 5-5-5z" /></g>
      ${lanes.models.map((one) => html`<rect key=${`m${one.step}`} class=${`model${one.isOpen && view.isLive ? " live" : ""}${one.step > place.step ? " ahead" : ""}`} x=${one.x} y=${MODEL} width=${Math.max(3, (one.isOpen ? head : one.right) - one.x)} height="8" rx="1.5" />`)}
      ${lanes.calls.map((one) => html`<rect key=${one.id} class=${`tool${one.end && one.end.success === false ? " failed" : ""}${one.step > place.step ? " ahead" : ""}`} x=${one.x} y=${TOOLS + one.row * 6} width=${Math.max(6, one.right - one.x)} height="3.5" rx="1.5"><title>${`${one.tool}${one.end?.error ? `: ${one.end.error}` : ""}`}</title></rect>`)}
      ${lanes.signals.map((signal) => signalAt(signal, lanes, signal.step > place.step))}
      ${lanes.columns.map((column) => heading(column, run, view, height))}
    </svg>
    <input class="scrubber" type="range" min="0" max=${run.steps.length} step="1" value=${place.step} aria-label="Playhead" aria-valuetext=${spoken(run, view)} onInput=${(event) => player.goTo(Number(event.target.value))} />
    ${signalTable(view)}`;
}

function grid(lanes, width, height) {
  const weak = ZERO - (ZERO - TOP) * WEAK;
  return html`<g aria-hidden="true">
    <line class="grid" x1=${lanes.left} x2=${width - 8} y1=${TOP} y2=${TOP} /><line class="grid" x1=${lanes.left} x2=${width - 8} y1=${ZERO} y2=${ZERO} />
    <line class="threshold" x1=${lanes.left} x2=${width - 8} y1=${weak} y2=${weak} />
    <text x=${lanes.left - 10} y=${TOP + 4} text-anchor="end">1.0</text>
    <text class="scarcetext" x=${lanes.left - 10} y=${weak + 4} text-anchor="end"><title>Below this the fallback is asked.</title>0.3</text>
    <text x=${lanes.left - 10} y=${MODEL + 8} text-anchor="end">model</text><text x=${lanes.left - 10} y=${TOOLS + 8} text-anchor="end">tools</text>
    ${lanes.columns.slice(1).map((column) => html`<line key=${column.turn} class="grid" x1=${column.x} x2=${column.x} y1="2" y2=${height - 2} />`)}
    ${freeRoom(lanes, width) > 170 ? html`<text class="scarcetext" x=${width - 8} y=${weak + 13} text-anchor="end">below this the fallback is asked</text>` : null}
  </g>`;
}

const freeRoom = (lanes, width) => width - (lanes.columns.at(-1) ? lanes.columns.at(-1).x + lanes.columns.at(-1).width : 0);

function heading(column, run, view) {
  if (column.width < 26) return null;
  const usage = run.turns.find((turn) => turn.turn === column.turn)?.usage;
  const spent = usage?.tokens && column.width > ROOMY ? `${count(usage.tokens)} tokens` : "";
  const words = [columnWords(column, run, view), spent].filter(Boolean).join(", ");
  return html`<text key=${`t${column.turn}`} class="turn" x=${column.x + 8} y="18">${column.width < VERY_NARROW ? column.turn : `turn ${column.turn}`}<title>${spentWords(column, usage)}</title>${column.width > NARROW ? html`<tspan class="what" dx="8">${words}</tspan>` : null}</text>`;
}

function spentWords(column, usage) {
  if (!usage) return `turn ${column.turn}`;
  return [`turn ${column.turn}`, usage.tokens && `${count(usage.tokens)} tokens`, money(usage.cost), seconds(usage.seconds)].filter(Boolean).join(", ");
}

function columnWords(column, run, view) {
  const calls = run.calls.filter((call) => call.turn === column.turn).length;
  const isNow = view.isLive && column.turn === view.turn;
  if (isNow && run.models.some((one) => one.turn === column.turn && !one.end)) return "writing";
  if (calls) return calls === 1 ? "called a tool" : `called ${calls} tools`;
  if (column.outcome === "cut") return "cut off";
  const end = run.end && column.turn === run.turns.at(-1)?.turn;
  return end || column.outcome === "answer" ? "answer" : column.outcome ?? "";
}

const GOOD = /^(granted|believed|taken|answered|as_announced)/;
const BAD = /^(refused|not[ _]believed|gave_up|fallback|ungrounded)/;

function signalAt(signal, lanes, isAhead) {
  const column = lanes.columns.find((one) => one.turn === signal.turn) ?? { x: lanes.left, width: 0 };
  const y = heightOf(signal);
  const verdict = (signal.verdict ?? "").replaceAll("_", " ");
  const tone = GOOD.test(signal.verdict ?? "") ? "yes" : BAD.test(signal.verdict ?? "") ? "scarcetext" : "";
  const sure = signal.confidence == null ? "" : signal.confidence.toFixed(2);
  const label = labelAt(signal, column, y, sure, [verdict, verdict.split(":")[0], ""]);
  return html`<g key=${`s${signal.step}`} class=${`signal ${tone || "plain"}${isAhead ? " ahead" : ""}`}>
    <title>${[signal.type, sure, verdict, signal.why].filter(Boolean).join(", ")}</title>
    <line class="stem" x1=${signal.x} x2=${signal.x} y1=${y + 7} y2=${MODEL} />
    ${label ? html`<text class="name" x=${label.x} y=${label.y}>${signal.type}</text><text x=${label.x} y=${label.y + 14}>${sure}<tspan class=${tone} dx=${sure ? 6 : 0}>${label.verdict}</tspan></text>` : null}
    <${SignalMark} type=${signal.type} x=${signal.x - 7} y=${y - 7} />
  </g>`;
}

function heightOf(signal) {
  const confidence = typeof signal.confidence === "number" ? signal.confidence : signal.type === "none" ? 0 : 0.5;
  return ZERO - (ZERO - TOP) * Math.max(0, Math.min(1, confidence));
}

// Beside the mark if its column has room, else above or below it, within the column.
function labelAt(signal, column, y, sure, [verdict, ...shorter]) {
  const width = Math.max(measure(signal.type, false), measure(`${sure} ${verdict}`, false));
  if (signal.x + 12 + width <= column.x + column.width - 2) return { x: signal.x + 12, y: y + 4, verdict };
  if (signal.x - 12 - width >= column.x + 8) return { x: signal.x - 12 - width, y: y + 4, verdict };
  if (width > column.width - 6) return shorter.length ? labelAt(signal, column, y, sure, shorter) : null;
  const x = Math.max(column.x + 6, Math.min(signal.x - width / 2, column.x + column.width - width - 2));
  return { x, y: y < 58 ? y + 20 : y - 25, verdict };
}

function spoken(run, view) {
  const status = view.focus ? view.statuses.get(view.focus.path)?.status : null;
  return `${player.placeWords(run, view)}, ${view.focus?.name ?? ""} ${statusWord(status)}`;
}

function signalTable(view) {
  return html`<table class="vh"><caption>Signals</caption><thead><tr><th>turn</th><th>signal</th><th>confidence</th><th>verdict</th></tr></thead>
    <tbody>${view.signals.map((one) => html`<tr key=${one.step}><td>${one.turn}</td><td>${one.type}</td><td>${one.confidence ?? ""}</td><td>${one.verdict ?? ""}</td></tr>`)}</tbody></table>`;
}
