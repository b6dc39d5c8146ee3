// What happens, or what was decided, in one sentence. Pure, but for the hook at the end.
//
// Each row names nodes in the order in which they lie on a path. The first row that fits speaks; a changed tree that
// fits none is named by its path ("decide › stuck › move on").

import { html, useEffect, useRef, useState } from "../html.js";
import { useStore } from "../store.js";
import { holdWords } from "../format.js";
import { coded } from "../coded.js";
import { connectionWords } from "../words.js";
import { useShown } from "./shown.js";

const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
const two = (number) => (typeof number === "number" ? number.toFixed(2) : "");

// What runs. A row is [names, head, rest]; head and rest may be functions of what is known.
const RUNNING = [
  [["call model"], "The model is writing.", "The ledger and the clock can halt it at any word."],
  [["ask about each call"], "Waiting for your yes.", "A tool that writes does nothing without it."],
  [["writing tools if a person agrees"], "Waiting for your yes.", "The model asked for a tool that writes."],
  [["run them in time", "run"], (known) => callsLead(known), (known) => callsRest(known)],
  [["list parts"], "Looking for the parts of a broad question.", "Each is read before the model answers."],
  [["read parts"], "Reading the parts of the question.", "The first are read with what they import."],
  [["follow imports"], "Looking for what connects the parts.", "Imports lead where no search does."],
  [["ask about parts"], "The model reads the parts one by one.", "Each in a small request of its own."],
  [["classify"], "What kind of question is it?", "It decides which tools are offered first."],
  [["read the situation"], "A second opinion is asked.", "It reads what the model said last."],
];

// What decided. The path of the deciding node is matched from its most telling end.
const DECIDED = [
  [["need_turn", "turn is granted"], "Another turn.", "The ledger allows it."],
  [["need_turn", "turn is refused"], "Refused: another turn.", "This response used up a budget."],
  [["need_turn", "tools are withdrawn"], "One more turn, without tools.", "They were withdrawn before."],
  [["claim checked", "send it back to write"], "Sent back to write.", "It claimed enough, and nothing was written."],
  [["claim is believed", "calls tools too"], "Believed, and asked to answer.", "It claimed enough and wanted to search on."],
  [["claim is believed", "only announces work"], "Believed, and asked to answer.", "It only announced what it would do."],
  [["claim is believed"], "Believed and answered.", (known) => believedRest(known)],
  [["searches after all"], "Not believed yet.", "It claimed enough, but nothing was gathered, and it searches."],
  [["send it back to search"], "Sent back to search.", "It claimed enough, and nothing was gathered."],
  [["send it back to write"], "Sent back to write.", "The question asks for a write, and none was tried."],
  [["send it back to work"], "Sent back to work.", "“Let me look” is not an answer."],
  [["text without a signal", "unreadable signal"], "Asked for a readable signal.", "The text came with one that cannot be read."],
  [["text without a signal", "text is the answer"], "Taken as the answer.", "There was no signal, and the text is whole."],
  [["context_sufficient", "partial answer"], "Ended with a partial answer.", "It claimed enough twice, and nothing backs it."],
  [["stuck", "try another way"], "Stuck. Another way is tried.", "Each way to search is taken once."],
  [["need_capability", "tools that write"], "A tool that writes was asked for.", "A person decides."],
  [["need_capability", "tools that read"], "Granted: a tool that reads.", (known) => reasonRest(known)],
  [["need_capability", "what no tool can do"], "No tool can do that.", "The model answers without it, and says so."],
  [["need_capability"], "A capability was asked for.", (known) => reasonRest(known)],
  [["partial_answer", "calls come first"], "Its calls are run first.", "Then it may end with what there is."],
  [["partial_answer"], "Ended with a partial answer.", "The model said what is missing."],
  [["delegation_recommended", "tree reads every part"], "The tree reads every part.", "The model recommended to split the work."],
  [["delegation_recommended"], "The model goes on alone.", "There is nobody to delegate to."],
  [["last turn", "text ends the run"], "The last word.", (known) => lastWordRest(known)],
  [["empty response", "empty too often"], "Given up: no text, again.", "What was found is below."],
  [["empty response"], "Asked again.", "The response had no text."],
  [["response was cut"], "The response was cut.", "It is not read for a decision."],
  [["model declined"], "The model declined.", "Asking again would not help."],
  [["filter stopped it"], "The provider's filter stopped it.", "Asking again would not help."],
  [["answer was too long"], "Asked for a shorter answer.", "It reached the longest output."],
  [["no request can be paid"], "Ended: no request can be paid.", "What was found is below."],
  [["only the reserve is left"], "The last turn is kept for the answer.", "The tools were withdrawn."],
  [["most of a budget is spent"], "Most of a budget is spent.", "The model was told to come to the point."],
  [["circles", "you have that already"], "Going in circles: the same call, the same result.", "A nudge was given."],
  [["circles", "withdraw that tool"], "Going in circles.", "The tool that repeats was withdrawn."],
  [["circles"], "Going in circles.", "The next step against it was taken."],
  [["fallback"], (known) => `The fallback decided: ${known.decision?.verdict?.replace(/^fallback:? ?/, "") || "go on"}.`, "The signal was missing, weak or unreadable."],
  [["strategies"], "Another way is tried.", (known) => reasonRest(known)],
  [["end in the middle of a turn"], "Ended in the middle of a turn.", "What had arrived is kept."],
  [["calls without a signal"], "Its calls are run.", "There was no signal to weigh."],
];

const ENDS = {
  partial_answer: ["Ended with a partial answer.", "What is missing is listed below it."],
  stuck: ["Ended: no way led further.", "What was found is below."],
  settled: ["Ended: more turns would not add anything.", "What was found is below."],
  turn_limit: ["Ended by the limit of turns.", "What was found is below."],
  token_limit: ["Ended by the limit of tokens.", "What was found is below."],
  money_limit: ["Ended by the limit of money.", "What was found is below."],
  time_limit: ["Ended by the limit of time.", "What was found is below."],
  cancelled: ["Stopped by you.", "What had arrived is kept."],
  refusal: ["The model declined to answer.", "What was found is below."],
  content_filter: ["The provider's filter stopped the answer.", "What was found is below."],
  model_unavailable: ["The model did not answer.", "The answer was made from what was found."],
  no_progress: ["Ended: the tree made no progress.", "This is a mistake in the tree."],
  tick_budget: ["Ended: the tree ticked too often.", "This is a mistake in the tree."],
  held_elsewhere: ["Another process works on this run.", "Look again when it has ended."],
  spend_limit: ["A budget is used up.", "Ask again when it renews."],
};


/** `{head, rest, tone}` for a run at a moment; tone is "", "scarce" or "broken". */
export function sentenceOf(run, view, connection = "up") {
  if (connection !== "up") return said(connectionWords(connection, run?.isLive ?? true), "scarce");
  if (run?.problem) return said(["This run cannot be shown.", run.problem.split(";")[0]], "scarce");
  if (!run?.tree) return run ? said(["Reading the run.", ""]) : said(["Nothing runs.", "Ask something, or choose a run."]);
  const known = { run, view, signal: view.signals.at(-1), decision: view.decisions.at(-1), calls: view.calls };
  if (view.held) return said([`Held before “${nameOf(run, view.held.path)}”.`, "Nothing is sent until you go on. The clock runs."], "scarce");
  if (view.end) return endSentence(known);
  const names = namesTo(view.focus);
  const status = view.focus && view.statuses.get(view.focus.path)?.status;
  if (status === "running") return rowFor(RUNNING, names, known) ?? said([`Running: ${inWords(names)}.`, ""]);
  const decision = view.decisions.findLast((one) => one.turn === view.turn);
  if (decision) {
    const row = rowFor(DECIDED, decision.path.split("/"), { ...known, decision });
    if (row) return row;
    return said([`${inWords(decision.path.split("/"))}.`, decision.reason ?? ""]);
  }
  if (view.step === 0) return said(["At the start.", "Nothing has been decided yet."]);
  return said([view.turn ? `Turn ${view.turn} goes on.` : "Before the first turn.", `Just now: ${inWords(names.slice(-3))}.`]);
}

function endSentence(known) {
  const { run, view } = known;
  const reason = view.end.stop_reason ?? "";
  if (reason === "internal_error" || reason === "store_failed") {
    const broken = run.steps.findLast((step) => step.status === "error");
    const where = broken ? inWords(broken.path.split("/")) : "The tree";
    return said([`${where} broke.`, "The answer was made from what was found."], "broken");
  }
  if (ENDS[reason]) return said(ENDS[reason], reason === "partial_answer" ? "" : "scarce");
  const names = known.decision?.path.split("/") ?? namesTo(view.focus);
  return rowFor(DECIDED, names, known) ?? said([`Ended: ${reason.replaceAll("_", " ") || inWords(names)}.`, ""]);
}

function rowFor(table, names, known) {
  const row = table.find(([wanted]) => followsIn(names, wanted));
  if (!row) return null;
  const [, head, rest] = row;
  return said([resolve(head, known), resolve(rest, known)]);
}

export function followsIn(names, wanted) {
  let at = 0;
  for (const name of names) if (name === wanted[at]) at += 1;
  return at === wanted.length;
}

const resolve = (text, known) => (typeof text === "function" ? text(known) : text);
const said = ([head, rest], tone = "") => ({ head, rest: rest ?? "", tone });
const namesTo = (node) => (node ? node.path.split("/") : []);
const sentenceCase = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const nameOf = (run, path) => run.tree.byPath.get(path)?.name ?? path;

// The last names of a path, without those that only repeat ("decide/decide") and without what is always above.
export function inWords(names) {
  const kept = names.filter((name, at) => name !== names[at - 1] && !name.includes("#"));
  return kept.slice(-3).join(" › ");
}

function believedRest({ run, signal }) {
  const holding = run.sources?.cited?.filter((one) => one.holds).length ?? 0;
  const sure = signal?.confidence == null ? "" : ` (${two(signal.confidence)})`;
  const backed = holding ? `, and ${plural(holding, "place")} back${holding === 1 ? "s" : ""} it` : "";
  return `The model said it has enough${sure}${backed}.`;
}

function lastWordRest({ run }) {
  const cited = run.sources?.cited ?? [];
  const holding = cited.filter((one) => one.holds).length;
  const held = cited.length ? ` ${holdWords(holding, cited.length)}.` : "";
  return `In an announced last turn the text is the answer.${held}`;
}

const reasonRest = ({ decision }) => (decision?.reason ? `${sentenceCase(decision.reason).replace(/\.$/, "")}.` : "");

const VERBS = { read: ["Reading", "file"], search: ["Searching", "place"], find: ["Searching", "place"] };

function callsLead({ calls, view }) {
  const now = calls.filter((call) => call.turn === view.turn);
  const verb = VERBS[now[0]?.tool?.split("_")[0]];
  if (!verb) return `Running ${plural(Math.max(1, now.length), "tool call")}.`;
  if (verb[0] === "Searching") return now[0].tool.includes("code") ? "Searching the code." : "Searching.";
  return `Reading ${plural(now.length, "file")}.`;
}

const callsRest = ({ view }) => (view.decisions.some((one) => one.turn === view.turn && /granted/.test(one.verdict ?? ""))
  ? "Another turn was granted." : "Each call was screened first.");

const PAUSE = 2000; // a screen reader finishes one sentence before it gets the next

/** The sentence, and the one polite live region of the page. */
export function Sentence() {
  const { run, connection } = useStore("run", "playhead", "connection");
  const view = useShown();
  const { head, rest, tone } = sentenceOf(run, view, connection);
  const spoken = useSpoken(view?.turn && view.isLive ? `Turn ${view.turn}. ${head} ${rest}` : `${head} ${rest.replaceAll("`", "")}`);
  return html`<p class=${`sentence ${tone}`}><strong>${head}</strong> <span>${coded(rest)}</span></p>
    <p class="vh" role="status" aria-live="polite">${spoken}</p>`;
}

function useSpoken(text) {
  const [spoken, speak] = useState("");
  const last = useRef(0);
  useEffect(() => {
    const wait = Math.max(0, last.current + PAUSE - performance.now());
    const timer = setTimeout(() => { last.current = performance.now(); speak(text); }, wait);
    return () => clearTimeout(timer);
  }, [text]);
  return spoken;
}
