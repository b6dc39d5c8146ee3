// A small tree and a run of two turns: granted, then answered.
import { newRun, take } from "../../../src/oracle/page/scripts/mind/reduce.js";

export const measure = (text, isBold) => text.length * (isBold ? 7 : 6);

/** Nodes from rows of [path, kind, options]. */
export function nodes(rows) {
  return rows.map(([path, kind, options = {}]) => {
    const at = path.lastIndexOf("/");
    return { path, kind, name: path.slice(at + 1), parent: at < 0 ? null : path.slice(0, at), leaf: null, description: "", reads: [], writes: [], file: "a.lua", line: 1, expression: null, options };
  });
}

export const ROWS = [
  ["question", "sequence"],
  ["question/open ledger", "action"],
  ["question/turns", "loop"],
  ["question/turns/turn", "subtree"],
  ["question/turns/turn/turn", "sequence"],
  ["question/turns/turn/turn/reserve", "guard"],
  ["question/turns/turn/turn/reserve/withdraw", "action"],
  ["question/turns/turn/turn/in time", "timeout"],
  ["question/turns/turn/turn/in time/call model", "action"],
  ["question/turns/turn/turn/circles", "always_succeed"],
  ["question/turns/turn/turn/circles/something repeats", "condition"],
  ["question/turns/turn/turn/decide", "selector"],
  ["question/turns/turn/turn/decide/need_turn", "sequence"],
  ["question/turns/turn/turn/decide/need_turn/wants more", "condition"],
  ["question/turns/turn/turn/decide/need_turn/turn is granted", "action"],
  ["question/turns/turn/turn/decide/claim is believed", "sequence"],
  ["question/turns/turn/turn/decide/claim is believed/backs the claim", "condition"],
  ["question/turns/turn/turn/decide/claim is believed/exit#1", "exit", { loop: "turns" }],
  ["finish", "action"],
];

const T = "question/turns/turn/turn";

/** The events of the run, in order. */
export function events() {
  const found = [];
  let at = 0;
  let tick = 1;
  let turn = 0;
  const say = (type, data = {}) => found.push([type, { at, turn, ...data }]);
  const node = (path, status) => { at += 0.01; found.push(["nodes", { nodes: [{ at, tick, turn, path, status }] }]); };
  found.push(["tree", { name: "agent", nodes: nodes(ROWS) }]);
  node("question/open ledger", "success");
  for (const number of [1, 2]) {
    node(`${T}/reserve`, "skipped");
    turn = number;
    say("turn", { phase: "start", tools: [{ name: "read_file", state: number === 1 ? "offered" : "withdrawn", reason: "r", uses: 0 }], budgets: [{ name: "turns", used: number - 1, limit: 3, reserve: 1, expected: 1, off: null }] });
    say("model", { phase: "start" });
    for (const path of [`${T}/in time/call model`, `${T}/in time`, T, "question/turns/turn", "question/turns", "question"]) node(path, "running");
    at += 1;
    tick += 1;
    say("model", { phase: "end" });
    node(`${T}/in time/call model`, "success");
    node(`${T}/in time`, "success");
    const type = number === 1 ? "need_turn" : "context_sufficient";
    say("signal", { type, confidence: 0.8, verdict: null });
    node(`${T}/circles/something repeats`, "failure");
    node(`${T}/circles`, "success");
    if (number === 1) {
      node(`${T}/decide/need_turn/wants more`, "success");
      say("decision", { path: `${T}/decide/need_turn/turn is granted`, verdict: "granted", reason: "look" });
      node(`${T}/decide/need_turn/turn is granted`, "success");
      node(`${T}/decide/need_turn`, "success");
    } else {
      node(`${T}/decide/need_turn/wants more`, "failure");
      node(`${T}/decide/need_turn`, "failure");
      node(`${T}/decide/claim is believed/backs the claim`, "success");
      say("decision", { path: `${T}/decide/claim is believed/backs the claim`, verdict: "believed", reason: "" });
      node(`${T}/decide/claim is believed/exit#1`, "success");
      node(`${T}/decide/claim is believed`, "halted");
      node(`${T}/decide/claim is believed`, "success");
    }
    say("signal", { type, confidence: 0.8, verdict: number === 1 ? "granted" : "believed" });
    for (const path of [`${T}/decide`, T, "question/turns/turn"]) node(path, "success");
    say("turn", { phase: "end", outcome: number === 1 ? "tools" : "answer", budgets: [{ name: "turns", used: number, limit: 3, reserve: 1, expected: 0, off: null }], usage: { tokens: 10 } });
  }
  node("question/turns", "success");
  node("question", "success");
  node("finish", "success");
  say("sources", { cited: [{ number: 1, where: "a.py:1", path: "a.py", first: 1, last: 1, holds: true }], found: [] });
  say("end", { stop_reason: "answered", turns: 2, usage: {} });
  return found;
}

export function played(upTo = Infinity) {
  const run = newRun("r");
  for (const [type, data] of events().slice(0, upTo)) take(run, type, data);
  return run;
}

/** The run up to the first moment in which the model writes in `turn`. */
export function whileWriting(turn) {
  const all = events();
  const at = all.findIndex(([type, data]) => type === "nodes" && data.nodes[0].turn === turn && data.nodes[0].path === "question");
  return played(at + 1);
}
