// Codes of a run in words, the same as in the terminal. What is not in a table is shown as words too.
import { inWords, plural, shortPath } from "./format.js";

const STOPS = {
  answered: "answered", partial_answer: "partial answer", stuck: "got stuck", settled: "ended", turn_limit: "limit of turns", token_limit: "limit of tokens", money_limit: "limit of money", time_limit: "limit of time", refusal: "the model refused", content_filter: "filtered by the provider", cancelled: "cancelled", model_unavailable: "the model cannot be reached", no_progress: "no progress", tick_budget: "too many steps", internal_error: "internal error", invalid_input: "the question cannot be used", store_failed: "not stored", held_elsewhere: "held by another process", spend_limit: "a budget is used up",
};
export const stopWords = (reason) => STOPS[reason] ?? inWords(reason ?? "interrupted");

const BROKEN = new Set(["internal_error", "no_progress", "tick_budget", "store_failed"]);

/** yes, scarce or broken: how the end of a run is coloured, with the mark that goes with it. */
export function endOf(reason) {
  if (reason === "answered") return { tone: "yes", mark: "yes" };
  return BROKEN.has(reason) ? { tone: "broken", mark: "err" } : { tone: "scarce", mark: "halt" };
}

const VERDICTS = {
  granted: "granted", refused: "refused", gave_up: "gave up", believed: "believed", not_believed: "not believed", asked_again: "asked again", strategy_changed: "approach changed", asked_for_the_answer: "asked for the answer", taken_as_stuck: "taken as the end", taken_as_the_last_word: "taken as the last word", taken_as_partial: "taken as partial",
};
export const verdictWords = (verdict) => VERDICTS[verdict] ?? inWords(verdict).replace(/^fallback /, "fallback: ");

/** What a mark in an answer says, without its brackets: "it is at line 16". */
export const markWords = (mark) => (mark ?? "").replace(/^\s*\(⚠\s*/, "").replace(/\)\s*$/, "");

/** What is said while the server cannot be heard, as a head and the rest. */
export function connectionWords(connection, isRunLive) {
  if (connection === "gone") return ["The server does not answer.", "Start it with `oracle serve`."];
  if (connection === "interrupted") return ["The run was interrupted.", "It goes on by itself; that can take half a minute."];
  return ["Connection lost.", isRunLive ? "The run goes on; trying again." : "Trying again."];
}

// What a turn did, from its calls: one entry for each tool, [one, many].
const DID = {
  search_code: ["searched the code", "searched the code {n} times"],
  read_file: ["read {path}", "read {n} files"],
  get_repo_map: ["looked at the map of the project", "looked at the map of the project"],
  find_definition: ["looked up {name}", "looked up {n} definitions"],
  get_project_facts: ["read the facts of the project", "read the facts of the project"],
  list_members: ["listed members", "listed members"],
  search_vault: ["searched the notes", "searched the notes {n} times"],
  read_note: ["read a note", "read {n} notes"],
  list_notes: ["listed the notes", "listed the notes"],
  write_note: ["wrote the note {title}", "wrote {n} notes"],
  search_threads: ["searched the threads", "searched the threads {n} times"],
  read_thread: ["read the thread {thread}", "read {n} threads"],
  push_thread: ["added to the thread {thread}", "added to {n} threads"],
  web_search: ["searched the web", "searched the web {n} times"],
  web_fetch: ["read a web page", "read {n} web pages"],
};

const filled = (text, call, n) =>
  text.replace("{n}", n).replace(/\{(\w+)\}/g, (_, name) => shortPath(String(call.arguments?.[name] ?? ""), 30));

/** What a turn did, in a few words. */
export function turnWords(turn, isLast) {
  const kinds = Map.groupBy ? Map.groupBy(turn.calls, (call) => call.name) : grouped(turn.calls);
  const parts = [];
  for (const [name, calls] of kinds) {
    const [one, many] = DID[name] ?? [`called ${name}`, `called ${name} {n} times`];
    const failed = calls.filter((call) => call.result && !call.result.isGood).length;
    const found = calls.reduce((sum, call) => sum + (call.result?.sources ?? 0), 0);
    let words = filled(calls.length === 1 ? one : many, calls[0], calls.length);
    if (name.startsWith("search_") && found) words += `, ${plural(found, "place")} found`;
    if (calls.every((call) => call.result?.wasRun === false)) words += ": not run";
    else if (failed) words += failed === calls.length ? ", which failed" : `, ${failed} of them failed`;
    parts.push(words);
  }
  if (parts.length) return parts.join("; ");
  if (turn.outcome === "draft") return "wrote a draft";
  if (turn.outcome === "empty") return "said nothing";
  if (turn.outcome === "cut") return "was cut off";
  if (turn.outcome === "answer" || isLast) return "wrote the answer";
  return "asked the model";
}

function grouped(calls) {
  const kinds = new Map();
  for (const call of calls) kinds.set(call.name, [...(kinds.get(call.name) ?? []), call]);
  return kinds;
}

/** A call as code: its name and the arguments that matter. */
export function callWords(call) {
  const given = Object.entries(call.arguments ?? {})
    .filter(([, value]) => value !== null && value !== "")
    .map(([name, value]) => `${name}=${JSON.stringify(value).slice(0, 160)}`);
  return `${call.name}(${given.join(", ")})`;
}
