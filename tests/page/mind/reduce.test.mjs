import assert from "node:assert/strict";
import test from "node:test";
import { newRun, take, viewAt } from "../../../src/oracle/page/scripts/mind/reduce.js";
import { events, nodes, played, whileWriting } from "./story.mjs";

const T = "question/turns/turn/turn";
const statusOf = (view, path) => view.statuses.get(path)?.status ?? null;

test("every event can come one by one or together", () => {
  const one = played();
  const together = events().filter(([type]) => type === "nodes").flatMap(([, data]) => data.nodes);
  assert.equal(one.steps.length, together.length);
  assert.equal(one.version, events().length);
});

test("an event that this page does not know changes nothing", () => {
  const run = played();
  const before = run.version;
  take(run, "something new", { at: 1 });
  assert.equal(run.version, before);
});

test("a new round begins with nothing reached", () => {
  const run = played();
  const began = run.steps.findLast((step) => step.path === `${T}/reserve`).step + 1;
  const view = viewAt(run, began);
  assert.equal(statusOf(view, `${T}/reserve`), "skipped");
  assert.equal(statusOf(view, `${T}/decide/need_turn`), null);
  assert.equal(statusOf(view, "question/open ledger"), "success");
});

test("what is above the newest change has begun", () => {
  const view = viewAt(played(), 1);
  assert.equal(statusOf(view, "question"), "running");
});

test("nodes that an exit halts keep what is below them", () => {
  const view = viewAt(played());
  assert.equal(statusOf(view, `${T}/decide/claim is believed/backs the claim`), "success");
  assert.equal(statusOf(view, `${T}/decide/claim is believed`), "success");
});

test("the focus is the leaf that runs, then the leaf that decided", () => {
  assert.equal(viewAt(whileWriting(2)).focus.path, `${T}/in time/call model`);
  const run = played();
  assert.equal(viewAt(run, run.turns[0].end.step).focus.path, `${T}/decide/need_turn/turn is granted`);
  assert.equal(viewAt(run).focus.path, `${T}/decide/claim is believed/exit#1`);
});

test("a moment shows only what was known then", () => {
  const run = played();
  const view = viewAt(run, run.turns[0].end.step);
  assert.deepEqual(view.signals.map((one) => [one.type, one.verdict]), [["need_turn", "granted"]]);
  assert.equal(view.end, null);
  assert.equal(view.tools[0].state, "offered");
  assert.equal(view.budgets[0].used, 1);
  const before = viewAt(run, run.signals[0].step);
  assert.equal(before.signals[0].verdict, null);
});

test("every step can be shown, in any order", () => {
  const run = played();
  const forward = run.steps.map((_, step) => viewAt(run, step).focus?.path);
  const back = run.steps.map((_, step) => step).reverse().map((step) => viewAt(run, step).focus?.path).reverse();
  assert.deepEqual(forward, back);
});

test("the end is live until the run has ended", () => {
  assert.equal(viewAt(whileWriting(1)).isLive, true);
  assert.equal(viewAt(played()).isLive, false);
  assert.equal(viewAt(whileWriting(1), 1).isLive, false);
});

test("a turn that names no tools says nothing about them", () => {
  const run = played();
  const before = viewAt(run).tools;
  take(run, "turn", { at: run.at, turn: 9, phase: "end", tools: [], budgets: [] });
  assert.ok(before.length > 0);
  assert.deepEqual(viewAt(run).tools, before);
});

test("what an exit leaves has ended as the exit did, and is not drawn as never reached", () => {
  const run = newRun("a");
  take(run, "tree", { name: "t", nodes: nodes([["turns", "loop"], ["turns/turn", "sequence"], ["turns/turn/at limit", "guard"], ["turns/turn/at limit/exit", "exit", { loop: "turns" }], ["turns/turn/later", "action"]]) });
  take(run, "turn", { turn: 1, phase: "start", at: 0 });
  for (const path of ["turns/turn/at limit/exit", "turns/turn/at limit", "turns"]) take(run, "node", { path, status: "success", turn: 1, tick: 1, at: 1 });
  take(run, "end", { stop_reason: "turn_limit", at: 1 });
  const { statuses } = viewAt(run, null);
  assert.equal(statuses.get("turns/turn").status, "success");
  assert.equal(statuses.get("turns/turn/later"), undefined);
});

/** The run of `played`, stopped while the model writes in turn 2. */
function stopped() {
  const run = whileWriting(2);
  const at = run.at + 1;
  take(run, "turn", { at, turn: 2, phase: "end", outcome: "cut" });
  for (const path of [`${T}/in time/call model`, `${T}/in time`, T, "question/turns/turn", "question/turns", "question"]) take(run, "nodes", { nodes: [{ at, tick: 9, turn: 2, path, status: "halted" }] });
  take(run, "nodes", { nodes: [{ at, tick: 10, turn: 2, path: "finish", status: "success" }] });
  take(run, "turn", { at, turn: 2, phase: "end", outcome: "answer" });
  take(run, "end", { at, stop_reason: "cancelled", turns: 2, usage: {} });
  return run;
}

test("of a run that was stopped, the eye belongs to what was halted, not to what an earlier turn decided", () => {
  const view = viewAt(stopped());
  assert.equal(view.focus.path, `${T}/in time/call model`);
  assert.equal(statusOf(view, view.focus.path), "halted");
  assert.equal(view.decided, null);
});

test("a turn that was cut off stays so when its text is taken as the answer", () => {
  assert.equal(viewAt(stopped()).turns.at(-1).outcome, "cut");
});
