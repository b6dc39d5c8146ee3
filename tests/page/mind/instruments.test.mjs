import assert from "node:assert/strict";
import test from "node:test";
import { historyOf } from "../../../src/oracle/page/scripts/mind/card.js";
import { lanesOf, placeOf, stepAt } from "../../../src/oracle/page/scripts/mind/lanes.js";
import { trackOf } from "../../../src/oracle/page/scripts/mind/ledger.js";
import { editorAddress } from "../../../src/oracle/page/scripts/editor.js";
import { linesOfNode } from "../../../src/oracle/page/scripts/mind/lua.js";
import { placeWords, playedAfter, schedule } from "../../../src/oracle/page/scripts/mind/player.js";
import { viewAt } from "../../../src/oracle/page/scripts/mind/reduce.js";
import { sentenceOf } from "../../../src/oracle/page/scripts/mind/sentence.js";
import { notCited } from "../../../src/oracle/page/scripts/mind/sources.js";
import { toolChanges, toolRows } from "../../../src/oracle/page/scripts/mind/tools.js";
import { nodesOf } from "../../../src/oracle/page/scripts/mind/trees.js";
import { placedDifferences, sideWords, unionTree, verdictWords } from "../../../src/oracle/page/scripts/mind/union.js";
import { indexTree } from "../../../src/oracle/page/scripts/mind/reduce.js";
import { crumbWords } from "../../../src/oracle/page/scripts/mind/words.js";
import { nodes, played, ROWS, whileWriting } from "./story.mjs";

const T = "question/turns/turn/turn";

test("the sentence says what runs, what was decided, and how it ended", () => {
  const said = (run, step) => sentenceOf(run, viewAt(run, step)).head;
  const run = played();
  assert.equal(said(whileWriting(1), null), "The model is writing.");
  assert.equal(said(run, run.turns[0].end.step), "Another turn.");
  assert.deepEqual(sentenceOf(run, viewAt(run)), { head: "Believed and answered.", rest: "The model said it has enough (0.80), and 1 place backs it.", tone: "" });
});

test("a changed tree still speaks: by its path", () => {
  const run = played();
  run.decisions[0] = { ...run.decisions[0], path: "question/turns/turn/turn/decide/my branch/my leaf" };
  const view = viewAt(run, run.turns[0].end.step);
  assert.equal(sentenceOf(run, view).head, "decide › my branch › my leaf.");
});

for (const [reason, head, tone] of [
  ["turn_limit", "Ended by the limit of turns.", "scarce"], ["cancelled", "Stopped by you.", "scarce"], ["internal_error", "The tree broke.", "broken"],
  ["my own reason", "Ended: my own reason.", ""],
]) {
  test(`a run that ended with ${reason} says so`, () => {
    const run = played();
    run.end.stop_reason = reason;
    run.decisions = [];
    const view = { ...viewAt(run), focus: null };
    assert.deepEqual([sentenceOf(run, view).head, sentenceOf(run, view).tone], [head, tone]);
  });
}

test("a lost connection comes before everything else", () => {
  assert.equal(sentenceOf(played(), viewAt(played()), "lost").head, "Connection lost.");
});

test("a server that is gone, a lost line and an interrupted run are told apart", () => {
  const run = whileWriting(2);
  const told = (connection) => { const { head, rest } = sentenceOf(run, viewAt(run), connection); return `${head} ${rest}`; };
  assert.match(told("gone"), /does not answer. Start it with `oracle serve`/);
  assert.match(told("lost"), /The run goes on/);
  assert.match(told("interrupted"), /was interrupted. It goes on by itself/);
});

test("the timeline goes one way: later steps are never further left", () => {
  for (const run of [played(), whileWriting(2)]) {
    for (const byTime of [false, true]) {
      const lanes = lanesOf(run, { width: 900, left: 60, byTime });
      const places = Array.from({ length: run.steps.length + 1 }, (_, step) => lanes.xOf(placeOf(run, step)));
      assert.deepEqual(places, [...places].sort((a, b) => a - b));
      assert.ok(places.every((x) => x >= 60 && x <= 900));
    }
  }
});

test("a place on the timeline leads back to its step", () => {
  const run = played();
  const lanes = lanesOf(run, { width: 900, left: 60 });
  for (let step = 1; step <= run.steps.length; step += 1) {
    const x = lanes.xOf(placeOf(run, step));
    assert.ok(Math.abs(lanes.xOf(placeOf(run, stepAt(run, lanes, x))) - x) < 0.001);
  }
});

test("while a turn runs, its column is not scaled anew", () => {
  const before = whileWriting(2);
  const x = (run) => lanesOf(run, { width: 900, left: 60 }).columns.map((column) => column.x);
  assert.deepEqual(x(before), x(whileWriting(2)));
  assert.equal(lanesOf(before, { width: 900, left: 60 }).columns[1].width, (900 - 60) / 4);
});

test("a recording is played with its pauses, but no longer than bearable", () => {
  const times = schedule([{ at: 0 }, { at: 0.001 }, { at: 60 }]);
  assert.ok(times[2] - times[1] >= 0.015 && times[3] - times[2] <= 1);
  assert.equal(playedAfter(times, 0, 0), 0);
  assert.equal(playedAfter(times, 0, 100), 3);
  assert.equal(playedAfter(times, 2, 0.5), 2);
});

test("the place is said in words", () => {
  const run = played();
  assert.equal(placeWords(run, viewAt(run)), `end, step ${run.steps.length} of ${run.steps.length}`);
  assert.match(placeWords(run, viewAt(run, run.turns[0].end.step)), /^turn 1, step \d+ of \d+$/);
});

test("a track turns amber where the reserve begins", () => {
  assert.equal(trackOf({ used: 1, limit: 3, reserve: 1 }).isAtReserve, false);
  assert.equal(trackOf({ used: 2, limit: 3, reserve: 1 }).isAtReserve, true);
  assert.equal(trackOf({ used: 3, limit: 3, reserve: 0 }).isAtReserve, false);
  assert.deepEqual(trackOf({ used: 9, limit: 3, reserve: 1, expected: 5 }).expected, 0);
});

test("tools of one reason are one row, and a change is a line", () => {
  const tool = (name, state, reason = "why") => ({ name, state, reason, uses: 0 });
  const rows = toolRows([tool("a", "offered"), tool("b", "offered"), tool("c", "withheld"), tool("d", "withheld"), tool("e", "withheld", "other")], 4);
  assert.deepEqual(rows.map((row) => row.tools.map((one) => one.name).join("")), ["a", "b", "cd", "e"]);
  const both = (turn, state) => ({ turn, list: [tool("a", state), tool("b", state), tool("c", "withheld")] });
  const changes = toolChanges([both(1, "offered"), both(2, "withdrawn"), both(3, "withdrawn")]);
  assert.deepEqual(changes, [{ turn: 2, state: "withdrawn", names: ["a", "b"] }]);
});

test("a card has a row for each turn up to the playhead", () => {
  const run = played();
  const node = run.tree.byPath.get(`${T}/in time/call model`);
  assert.deepEqual(historyOf(run, node, run.steps.length).map((row) => [row.turn, row.status]), [[1, "success"], [2, "success"]]);
  assert.deepEqual(historyOf(run, node, run.turns[0].end.step).map((row) => row.turn), [1]);
});

test("the Lua of a node ends with its brackets", () => {
  const text = 'BT.tree("a", {\n  root = BT.sequence("s", {\n    one, -- a comment with (\n    two,\n  }),\n})\n';
  assert.deepEqual(linesOfNode(text, 2), ['root = BT.sequence("s", {', "  one, -- a comment with (", "  two,", "}),"]);
});

test("places that the answer cites are not listed as found again", () => {
  const place = (path, first, last) => ({ path, first, last, where: `${path}:${first}-${last}` });
  const sources = { cited: [place("a.py", 3, 5)], found: [place("a.py", 1, 9), place("b.py", 1, 2), place("b.py", 1, 2)] };
  assert.deepEqual(notCited(sources).map((one) => one.where), ["b.py:1-2"]);
});

test("two trees have one shape, and each knows what it lacks", () => {
  const left = indexTree({ name: "a", nodes: nodes(ROWS) });
  const without = ROWS.filter(([path]) => !path.includes("reserve"));
  const more = without.flatMap((row) => (row[0] === "question/open ledger" ? [row, ["question/ask twice", "action"]] : [row]));
  const right = indexTree({ name: "b", nodes: nodes(more) });
  const { tree, missing } = unionTree(left, right);
  assert.deepEqual([...missing.b], [`${T}/reserve`, `${T}/reserve/withdraw`]);
  assert.deepEqual([...missing.a], ["question/ask twice"]);
  assert.deepEqual(tree.roots[0].children.map((node) => node.name), ["open ledger", "ask twice", "turns"]);
});

test("the verdict counts decisions and says where", () => {
  const one = (turn) => ({ turn, path: "p" });
  const words = (...list) => { const { head, rest } = verdictWords(list, true); return head + rest; };
  assert.equal(words(one(3), one(3)), "Two decisions differ, both in turn 3. The answer is the same.");
  assert.equal(words(one(1)), "One decision differs, in turn 1. The answer is the same.");
  assert.equal(words(one(1), one(2)), "Two decisions differ, in turns 1 and 2. The answer is the same.");
  assert.equal(verdictWords([], false).head, "No decision differs.");
  assert.deepEqual([null, { status: "success" }, { status: "not reached" }, "x"].map(sideWords), ["not reached", "yes", "not reached", "x"]);
});

test("what the ledger says before a turn belongs to that turn", () => {
  const run = played();
  const [first, second] = placedDifferences([{ path: `${T}/reserve`, turn: 0 }, { path: `${T}/reserve`, turn: 1 }], run);
  assert.deepEqual([first.turn, second.turn], [1, 2]);
});

test("a tree of the server is read depth first", () => {
  const found = nodesOf({ root: { id: "r", kind: "sequence", name: "r", children: [{ id: "r/a", kind: "action", options: { call: "my.module.leaf" } }] } });
  assert.deepEqual(found.map((node) => [node.path, node.parent, node.leaf]), [["r", null, null], ["r/a", "r", "my.module.leaf"]]);
});

test("the words above the drawing name the turn, wherever it is among them", () => {
  const crumbs = (...labels) => labels.map((label) => ({ label }));
  assert.equal(crumbWords(crumbs("question", "turns › turn"), 3), "question › turns › turn 3");
  assert.equal(crumbWords(crumbs("question", "turns", "turn", "decide"), 3), "question › turns › turn 3 › decide");
  assert.equal(crumbWords(crumbs("question"), 0), "question");
});

test("a file opens in the editor of this machine, and nowhere else", () => {
  const here = { editor: "vscode", host: "127.0.0.1" };
  assert.equal(editorAddress("/home/me/a b", "src/x.py", 7, here), "vscode://file/home/me/a%20b/src/x.py:7");
  assert.equal(editorAddress("C:\\shop", "x.py", 1, here), "vscode://file/C:/shop/x.py:1");
  assert.equal(editorAddress("/p", "x.py", 2, { ...here, editor: "idea" }), "idea://open?file=/p/x.py&line=2");
  assert.equal(editorAddress("/p", "x.py", 1, { ...here, host: "oracle.example.org" }), null);
  assert.equal(editorAddress("/p", "x.py", 1, { ...here, editor: "constructor" }), null);
  assert.equal(editorAddress(null, "x.py", 1, here), null);
});
