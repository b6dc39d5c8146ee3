// Two runs, or a run and its replay: what was decided differently, where, and why.
import { get } from "../api.js";
import { coded } from "../coded.js";
import { count, plural } from "../format.js";
import { html, useEffect, useMemo, useRef, useState } from "../html.js";
import { Icon } from "../icons.js";
import { onKey } from "../keys.js";
import { Mark, SignalMark } from "../marks.js";
import { Measures } from "../runs/shadow.js";
import { follow } from "../stream.js";
import { lanesOf } from "./lanes.js";
import { newRun, take } from "./reduce.js";
import { sharedDrawing, Side } from "./side.js";
import { Speeds } from "./timeline.js";
import { withTold, wordsWithoutNode } from "./told.js";
import { placedDifferences, sideWords, stepAtPlace, unionTree, verdictWords, viewAtPlace } from "./union.js";

export function Compare({ a, b }) {
  const [both, setBoth] = useState(null);
  const [problem, setProblem] = useState(null);
  useEffect(() => {
    const leaving = new AbortController();
    setBoth(null);
    setProblem(null);
    Promise.all([recorded(a, leaving.signal), recorded(b, leaving.signal), get(`/api/compare/${a}/${b}`, { signal: leaving.signal })])
      .then(([left, right, verdict]) => { if (!leaving.signal.aborted) setBoth({ left, right, verdict }); })
      .catch((error) => { if (!leaving.signal.aborted) setProblem(error.message); });
    return () => leaving.abort();
  }, [a, b]);
  if (problem) return html`<div class="compare is-empty"><h1>These two cannot be compared.</h1><p class="nothing">${coded(problem)}</p><a class="link" href="/runs">Choose two runs</a></div>`;
  if (!both) return html`<div class="compare is-empty" aria-busy="true"><span class="bone"></span></div>`;
  return html`<${Comparison} key=${`${a}/${b}`} ...${both} />`;
}

/** A recorded run, reduced from its frames. */
export async function recorded(id, signal) {
  const run = newRun(id);
  await follow(`/api/runs/${id}/mind`, { signal, ends: ["end"], on: (type, data) => take(run, type, data) });
  return run;
}

/** `verdict` is what /api/compare or /replay says; the runs are reduced from their frames. */
export function Comparison({ left, right, verdict }) {
  const differences = useMemo(() => withTold(placedDifferences(verdict.differences ?? [], right, left)), [verdict, left, right]);
  const decided = differences.filter((one) => !one.assumed);
  const [chosen, choose] = useState(decided[0]?.number ?? null);
  const turns = Math.max(left.turns.length, right.turns.length, 1);
  const [place, setPlace] = useState({ turn: decided[0]?.turn || turns, share: 1 });
  const union = useMemo(() => unionTree(left.tree, right.tree), [left, right]);
  const views = useMemo(() => [viewAtPlace(left, place), viewAtPlace(right, place)], [left, right, place.turn, place.share]);
  const goTo = (difference) => { choose(difference.number); setPlace({ turn: difference.turn || 1, share: 1 }); };
  const move = useMover({ left, right, turns, place, setPlace, decided, chosen, goTo });
  const marks = new Map(decided.filter((one) => one.turn === place.turn && union.tree.byPath.has(one.path)).map((one) => [one.path, one.number]));
  const names = namesOf(verdict);
  return html`<div class="compare">
    <${Verdict} verdict=${verdict} decided=${decided} left=${left} right=${right} names=${names} />
    <${Sides} union=${union} views=${views} marks=${marks} names=${names} onChoose=${(path) => { const hit = decided.find((one) => path && one.path.startsWith(path) && one.turn === place.turn); if (hit) choose(hit.number); }} />
    ${differences.length || verdict.missing ? html`<ol class="diffs">${differences.map((one) => html`<${Difference} key=${one.number} one=${one} names=${names} lengths=${{ a: left.turns.length, b: right.turns.length }} isChosen=${one.number === chosen} onChoose=${() => goTo(one)} />`)}${verdict.missing ? html`<${Missing} missing=${verdict.missing} />` : null}</ol>` : null}
    <${BothRuns} left=${left} right=${right} names=${names} turns=${turns} place=${place} setPlace=${setPlace} decided=${decided} move=${move} />
  </div>`;
}

/** What the two are to each other: a run and its replay, a pair of the shadow, or just two runs. */
function namesOf({ names, a, b }) {
  const [first, second] = b == null ? ["recorded", "replay"] : b.shadow_of || a?.shadow_of ? ["tree", "tree"] : ["first", "second"];
  const nameOf = (run, name) => (run?.tree === "baseline" ? "plain loop" : name);
  return { a: names?.a ?? nameOf(a, first), b: names?.b ?? nameOf(b, second) };
}

function Verdict({ verdict, decided, left, right, names }) {
  const words = verdictWords(decided, verdict.same_answer);
  const usage = (run) => run.end?.usage ?? {};
  const held = (run) => run.sources?.cited?.filter((one) => one.holds).length ?? 0;
  const deltas = [
    ["stop reason", left.end?.stop_reason ?? "", right.end?.stop_reason ?? ""], ["turns", left.turns.length, right.turns.length],
    ["tokens", count(usage(left).tokens ?? 0), count(usage(right).tokens ?? 0)], ["citations", held(left), held(right)],
  ];
  return html`<header class="verdict"><div>
      <h1><em>${words.head}</em>${words.rest.startsWith(",") ? "" : " "}${words.rest}</h1>
      <p>${names.a} <code>${left.id.slice(0, 8)}</code> against ${names.b}${right.id === left.id ? "" : html` <code>${right.id.slice(0, 8)}</code>`}. Nothing was asked of a model.</p>
      ${questions(left, right).map((one) => html`<p key=${one} class="asked">${one}</p>`)}</div>
    <${Gate} shadow=${verdict.shadow} />
    <dl class="deltas">${deltas.map(([name, before, now]) => html`<div key=${name}><dt>${name}</dt><dd class=${before === now ? "same" : ""}>${before} ${before === now ? "=" : "→"} ${now}</dd></div>`)}</dl>
  </header>`;
}

function Sides({ union, views, marks, names, onChoose }) {
  const ref = useRef(null);
  const [width, setWidth] = useState(600);
  useEffect(() => {
    const watcher = new ResizeObserver(([entry]) => setWidth(Math.round(entry.contentRect.width / 2)));
    watcher.observe(ref.current);
    return () => watcher.disconnect();
  }, []);
  const differing = [...marks.keys()].map((path) => union.tree.byPath.get(path));
  const drawing = sharedDrawing(union.tree, views, differing, width, [union.missing.a, union.missing.b]);
  return html`<div class="sides" ref=${ref}>
    ${["a", "b"].map((side, at) => html`<section key=${side} aria-label=${names[side]}><header><b>${names[side]}</b>${views[at].turn ? html`<span>turn ${views[at].turn}</span>` : null}</header>
      <${Side} tree=${union.tree} view=${views[at]} missing=${union.missing[side]} drawing=${drawing} marks=${marks} label=${`Tree, ${names[side]}`} onChoose=${onChoose} onScroll=${scrollOther} /></section>`)}
  </div>`;
}

// Both sides have the same shape, so they show the same part of it.
function scrollOther({ currentTarget: side }) {
  for (const other of side.closest(".sides").querySelectorAll(".side")) {
    if (other !== side) other.scrollTo(side.scrollLeft, side.scrollTop);
  }
}

function Difference({ one, names, lengths, isChosen, onChoose }) {
  const name = one.path?.split("/").at(-1) ?? wordsWithoutNode(one, names, lengths);
  return html`<li class=${one.assumed ? "assumed" : ""}><button aria-current=${String(isChosen && !one.assumed)} onClick=${onChoose}>
    ${one.assumed ? html`<${Mark} name="info" />` : html`<i>${one.number}</i>`}
    <span class="where">${one.assumed ? `Assumed: ${name}` : name} <small>turn ${one.turn}${one.place ? `, ${one.place}` : inside(one.path)}</small></span>
    ${one.assumed || !one.path ? null : html`<span class="sides-words"><span>${names.a} <b>${sideWords(one.a)}</b></span><span>${names.b} <b>${sideWords(one.b)}</b></span></span>`}
    ${one.why && !saysOnlyTheSides(one) ? html`<span class="why">${sentenceCase(one.why)}</span>` : null}
    ${["a", "b"].map((side) => html`<${Told} key=${side} name=${names[side]} lines=${one.told[side]} />`)}
  </button></li>`;
}

function Told({ name, lines }) {
  if (lines.length === 0) return null;
  const shown = lines.slice(0, MOST_DONE).map(shortened).join("; ");
  return html`<span class="why" title=${lines.join("\n")}><b>${name}</b> ${shown}${lines.length > MOST_DONE ? "; …" : ""}</span>`;
}

const MOST_DONE = 2; // things that a side did; all of them are in the title
const LONGEST = 90;
const shortened = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST).trimEnd()}…` : text);

/** The words above it say the same: yes here, no there; or that the tools of a turn are only where the turn is. */
const saysOnlyTheSides = (one) => (one.path ? /in the first, .* in the second\.$|^The second tree does not have/.test(one.why) : one.a?.does?.length > 0 || one.b?.does?.length > 0);

function Missing({ missing }) {
  return html`<li class="assumed"><div class="missing"><${Mark} name="halt" /><span class="where">The recording has no answer to this request. <small>turn ${missing.turn}</small></span><span class="why">${missing.words}</span></div></li>`;
}

const sentenceCase = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function inside(path) {
  const names = [...new Set((path ?? "").split("/"))].slice(-3, -1);
  return names.length ? `, in ${names.at(-1)}` : "";
}

const SHARE = 0.02; // of a turn, for one frame of playing at speed 1

// All ways to move the one playhead, with their keys.
function useMover({ left, right, turns, place, setPlace, decided, chosen, goTo }) {
  const now = useRef(null);
  now.current = { place, chosen };
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(1);
  const steps = (turn) => Math.max(1, ...[left, right].map((run) => stepAtPlace(run, { turn, share: 1 }) - stepAtPlace(run, { turn, share: 0 })));
  const by = (share) => {
    const { turn, share: before } = now.current.place;
    const next = before + share;
    if (next > 1 && turn < turns) setPlace({ turn: turn + 1, share: Math.min(1, next - 1) });
    else if (next < 0 && turn > 1) setPlace({ turn: turn - 1, share: 1 + next });
    else setPlace({ turn, share: Math.max(0, Math.min(1, next)) });
  };
  const stepBy = (count) => { setPlaying(false); by(count / steps(now.current.place.turn)); };
  const turnBy = (count) => { setPlaying(false); setPlace({ turn: Math.max(1, Math.min(turns, now.current.place.turn + count)), share: 1 }); };
  const difference = (count) => {
    if (!decided.length) return;
    const at = decided.findIndex((one) => one.number === now.current.chosen);
    goTo(decided[(at + count + decided.length) % decided.length]);
  };
  const toggle = () => {
    const { turn, share } = now.current.place;
    if (!isPlaying && turn >= turns && share >= 1) setPlace({ turn: 1, share: 0 });
    setPlaying(!isPlaying);
  };
  useEffect(() => {
    if (!isPlaying) return undefined;
    let frame = requestAnimationFrame(function next() {
      const { turn, share } = now.current.place;
      if (turn >= turns && share >= 1) { setPlaying(false); return; }
      by((SHARE / 2) * speed);
      frame = requestAnimationFrame(next);
    });
    return () => cancelAnimationFrame(frame);
  }, [isPlaying, speed]);
  useEffect(() => {
    const keys = { n: () => difference(1), "Shift+n": () => difference(-1), " ": toggle, ArrowLeft: () => stepBy(-1), ArrowRight: () => stepBy(1), "[": () => turnBy(-1), "]": () => turnBy(1) };
    const ends = Object.entries(keys).map(([key, act]) => onKey(key, act));
    return () => ends.forEach((end) => end());
  });
  return { isPlaying, speed, setSpeed, toggle, stepBy, toStart: () => setPlace({ turn: 1, share: 0 }), toEnd: () => setPlace({ turn: turns, share: 1 }) };
}

const LANE = 46;
const GUTTER = 96;
const NAMED = 190; // a turn narrower than this has no room for the names of signals
const LABEL = 132;

function BothRuns({ left, right, names, turns, place, setPlace, decided, move }) {
  const ref = useRef(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const watcher = new ResizeObserver(([entry]) => setWidth(Math.round(entry.contentRect.width)));
    watcher.observe(ref.current);
    return () => watcher.disconnect();
  }, []);
  const each = (width - GUTTER - 8) / turns;
  const x = GUTTER + (place.turn - 1 + place.share) * each;
  const scrub = (event) => {
    const at = Math.max(0, Math.min(turns - 0.0001, (event.clientX - event.currentTarget.getBoundingClientRect().left - GUTTER) / each));
    setPlace({ turn: Math.floor(at) + 1, share: at - Math.floor(at) });
  };
  const buttons = [["start", "To the start", move.toStart], ["back", "Step back", () => move.stepBy(-1)], [move.isPlaying ? "pause" : "play", move.isPlaying ? "Pause" : "Play", move.toggle], ["on", "Step on", () => move.stepBy(1)], ["end", "To the end", move.toEnd]];
  return html`<section class="time" aria-label="Both runs"><header><h2 class="label">Both runs</h2>
      <span class="transport" role="group" aria-label="Player">${buttons.map(([icon, label, act]) => html`<button key=${label.length} class=${icon === "play" || icon === "pause" ? "play" : ""} aria-label=${label} onClick=${act}><${Icon} name=${icon} size=${14} /></button>`)}</span>
      <span class="at">turn ${place.turn}, step ${stepAtPlace(left, place)} of ${left.steps.length}</span><${Speeds} speed=${move.speed} onChoose=${move.setSpeed} />
      <span class="right keyhints"><span><kbd>n</kbd> next difference</span><span><kbd>←</kbd> <kbd>→</kbd> step</span><span><kbd>[</kbd> <kbd>]</kbd> turn</span></span></header>
    <div class="lanes-place both" ref=${ref}>${width ? html`<svg class="lanes" width=${width} height=${28 + 2 * LANE} onPointerDown=${(event) => { event.currentTarget.setPointerCapture(event.pointerId); scrub(event); }} onPointerMove=${(event) => { if (event.buttons === 1) scrub(event); }}>
      <rect class=${decided.some((one) => one.turn === place.turn) ? "washdiff" : "wash"} x=${GUTTER + (place.turn - 1) * each} width=${each} height=${28 + 2 * LANE} rx="6" />
      ${Array.from({ length: turns }, (_, at) => turnHead(at + 1, GUTTER + at * each, each, decided))}
      ${[left, right].map((run, at) => html`<g key=${at} transform=${`translate(0 ${28 + at * LANE})`}>${laneOf(run, at === 0 ? names.a : names.b, width, turns, decided.filter((one) => at === 1), each)}</g>`)}
      <g class="head" transform=${`translate(${x} 0)`} aria-hidden="true"><line y1="0" y2=${28 + 2 * LANE} /><path d="M-5 0h10v3l-5 5-5-5z" /></g></svg>
      <input class="scrubber" type="range" min="0" max=${turns * 100} value=${Math.round((place.turn - 1 + place.share) * 100)} aria-label="Playhead of both runs" aria-valuetext=${`turn ${place.turn}, step ${stepAtPlace(left, place)}`} onInput=${(event) => { const at = Math.min(turns * 100 - 0.01, Number(event.target.value)) / 100; setPlace({ turn: Math.floor(at) + 1, share: at - Math.floor(at) }); }} />` : null}</div>
  </section>`;
}

function turnHead(turn, x, width, decided) {
  const here = decided.filter((one) => one.turn === turn).length;
  return html`<g key=${turn}>${turn > 1 ? html`<line class="grid" x1=${x} x2=${x} y1="2" y2=${26 + 2 * LANE} />` : null}
    ${width > 60 ? html`<text class="turn" x=${x + 8} y="18">turn ${turn}${width > 130 ? html`<tspan class=${here ? "difftext" : "what"} dx="8">${here ? plural(here, "difference") : "the same"}</tspan>` : null}</text>` : null}</g>`;
}

function laneOf(run, name, width, turns, differences, each) {
  const lanes = lanesOf(run, { width: width - 8, left: GUTTER, columns: turns, label: each > NAMED ? LABEL : 0, isApart: true });
  return html`<text x="0" y="20" class="lane-name">${name}</text>
    ${lanes.models.map((one) => html`<rect key=${one.step} class="model" x=${one.x} y="12" width=${Math.max(3, one.right - one.x)} height="8" rx="1.5" />`)}
    ${lanes.calls.map((one) => html`<rect key=${one.id} class="tool" x=${one.x} y=${12 + one.row * 6} width=${Math.max(6, one.right - one.x)} height="3.5" rx="1.5"><title>${one.tool}</title></rect>`)}
    ${lanes.signals.map((one) => html`<g key=${one.step} class="signal"><${SignalMark} type=${one.type} x=${one.x - 7} y="9" />${each > NAMED ? html`<text class="name" x=${one.x + 12} y="16">${one.type}</text><text x=${one.x + 12} y="30">${one.confidence?.toFixed(2) ?? ""}<tspan dx="6">${(one.verdict ?? "").replaceAll("_", " ")}</tspan></text>` : null}<title>${`${one.type} ${one.verdict ?? ""}`}</title></g>`)}
    ${differences.map((one) => html`<path key=${one.number} class="diffmark" transform=${`translate(${GUTTER + (one.turn - 1) * each + 10 + (one.number % 4) * 12} 0)`} d="m0-4.5 4.5 4.5-4.5 4.5-4.5-4.5z"><title>difference ${one.number}</title></path>`)}`;
}

/** What the gate measures, of this pair. */
function Gate({ shadow }) {
  if (!shadow?.rows?.length) return null;
  const counted = shadow.rows.filter((row) => row.is_counted);
  const kept = counted.filter((row) => row.is_kept).length;
  return html`<details class="gate pairs runs"><summary><${Mark} name=${kept === counted.length ? "yes" : "halt"} /> The tree is as good or better on ${kept} of ${plural(counted.length, "measure")} of the gate</summary><${Measures} rows=${shadow.rows} /></details>`;
}

/** What was asked: once, if both were asked the same. */
const questions = (...runs) => [...new Set(runs.map((run) => run.tree.run?.question).filter(Boolean))];
