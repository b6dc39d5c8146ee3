import assert from "node:assert/strict";
import test from "node:test";
import { indexTree, newRun, take, viewAt } from "../../../src/oracle/page/scripts/mind/reduce.js";
import { groupIn, shapeOf } from "../../../src/oracle/page/scripts/mind/shape.js";
import { pairsOf } from "../../../src/oracle/page/scripts/runs/pairs.js";
import { withTold, wordsWithoutNode } from "../../../src/oracle/page/scripts/mind/told.js";
import { nodes } from "./story.mjs";

const NAMES = ["one", "two", "three"];
const rows = (kind) => [["turn", kind], ...NAMES.map((name) => [`turn/${name}`, "action"]), ["turn/last", "action"]];

function run(kind, statuses) {
  const made = newRun("a");
  take(made, "tree", { name: "t", nodes: nodes(rows(kind)) });
  for (const [name, status] of Object.entries(statuses)) take(made, "node", { path: `turn/${name}`, status, turn: 1, at: 0 });
  return made;
}

function groupOf(kind, statuses) {
  const made = run(kind, statuses);
  const { root } = shapeOf(made.tree, viewAt(made, null), { detail: "path", extra: [made.tree.byPath.get("turn/last")] });
  return root.children.find((box) => box.isGroup);
}

const all = (status) => Object.fromEntries(NAMES.map((name) => [name, status]));
const drawnIn = (kind, here, there, lacks = []) => {
  const box = groupOf(kind, { ...all(here), last: "success" });
  return groupIn(box, viewAt(run(kind, there), null).statuses, new Set(lacks));
};

test("a group says what it was in each of two runs", () => {
  assert.equal(groupOf("sequence", { ...all("success"), last: "success" }).label, "3 done");
  for (const [kind, there, label] of [
    ["sequence", all("success"), "3 done"], ["selector", all("failure"), "3 said no"], ["sequence", {}, "3 not reached"],
    ["selector", {}, "3 not asked"], ["sequence", { one: "success" }, "3 others"], ["sequence", all("skipped"), "3 skipped"],
  ]) assert.equal(drawnIn(kind, "success", there).label, label);
});

test("what a tree does not have is neither done nor left out in its run", () => {
  const paths = NAMES.map((name) => `turn/${name}`);
  const none = drawnIn("sequence", "success", {}, paths);
  assert.deepEqual([none.label, none.status, none.only], ["3 not here", null, true]);
  const one = drawnIn("sequence", "success", { three: "success" }, paths.slice(0, 2));
  assert.deepEqual([one.label, one.status, one.count], ["1 done", "success", 1]);
});

test("both lines of a comparison are made shorter, and one name is not said twice", () => {
  const tree = indexTree({ name: "t", nodes: nodes([
    ["turn", "sequence"], ["turn/a", "action"],
    ["turn/decide", "selector"], ["turn/decide/yes", "sequence"], ["turn/decide/yes/end", "action"],
    ["turn/work", "guard"], ["turn/work/work", "sequence"], ["turn/work/work/found", "action"],
  ]) });
  const at = (path) => tree.byPath.get(path);
  const view = { statuses: new Map(), focus: at("turn/decide/yes/end"), end: true };
  const { root } = shapeOf(tree, view, { detail: "path", join: 2, extra: [at("turn/work/work/found")] });
  const labels = root.children.filter((box) => box.isLit).map((box) => box.label);
  assert.deepEqual(labels, ["decide › yes", "work"]);
});

const difference = (turn, a, b) => ({ turn, path: null, a: { does: a }, b: { does: b } });

test("a card names the tools that only one side has, and not again in the next", () => {
  const [first, second, third] = withTold([
    difference(1, ["takes it for code", "grants the tools: read, search", "offers the tools: read, search"], ["offers the tools: read, write"]),
    difference(2, ["offers the tools: read, search", "decides: granted"], ["offers the tools: read, write"]),
    difference(3, ["offers the tools: read"], ["offers the tools: read, write, list"]),
  ]).map((one) => one.told);
  assert.deepEqual(first, { a: ["takes it for code", "offers search"], b: ["offers write"] });
  assert.deepEqual(second, { a: ["decides: granted"], b: [] });
  assert.deepEqual(third, { a: [], b: ["offers write, list"] });
});

test("a difference without a node has a name", () => {
  const named = (turn, a, b) => wordsWithoutNode(withTold([difference(turn, a, b)])[0], { a: "tree", b: "plain loop" }, { a: 2, b: 3 });
  assert.equal(named(3, [], ["calls read"]), "only the plain loop has this turn");
  assert.equal(named(2, ["calls read"], []), "something else is done");
  assert.equal(named(2, ["offers the tools: read"], ["offers the tools: none"]), "other tools are offered");
  assert.equal(named(1, ["takes it for a question of type code"], ["calls read"]), "only the tree asks what kind of question it is");
  assert.equal(named(1, ["decides: granted: look"], ["calls read"]), "only the tree decides what the signal leads to");
  assert.equal(named(1, ["decides: granted: a"], ["decides: granted: b"]), "something else is done");
});

test("a card without words of its own says that the tools differ as before", () => {
  const pairs = [1, 2].map((turn) => difference(turn, ["offers the tools: read"], ["offers the tools: read, write"]));
  const [, second] = withTold(pairs);
  assert.equal(wordsWithoutNode(second, { a: "tree", b: "plain loop" }, { a: 2, b: 2 }), "other tools are offered, as before");
});

test("pairs to begin with are the same question asked twice, and runs with their shadows", () => {
  const asked = (id, question, more = {}) => ({ id, question, stop_reason: "answered", started_at: 0, ...more });
  const runs = [asked("d", "Why?", { is_live: true }), asked("c", "Why?"), asked("b", "How?"), asked("a", "Why?")];
  const shadows = [{ run_id: "c", shadow_run_id: "s", question: "Why?" }];
  assert.deepEqual(pairsOf(runs, shadows).map((pair) => pair.address), ["/compare/a/c", "/compare/c/s"]);
  const many = Array.from({ length: 9 }, (_, at) => [asked(`n${at}`, `${at}?`), asked(`o${at}`, `${at}?`)]).flat();
  assert.equal(pairsOf(many, Array(9).fill(shadows[0])).filter((pair) => pair.address === "/compare/c/s").length, 3);
  assert.deepEqual(pairsOf([], []), []);
});
