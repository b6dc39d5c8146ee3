import assert from "node:assert/strict";
import test from "node:test";
import { fitted } from "../../../src/oracle/page/scripts/mind/fit.js";
import { GAP, HEIGHT, layOut, ROW } from "../../../src/oracle/page/scripts/mind/layout.js";
import { indexTree, viewAt } from "../../../src/oracle/page/scripts/mind/reduce.js";
import { litLine, shapeOf } from "../../../src/oracle/page/scripts/mind/shape.js";
import { measure, nodes, played, whileWriting } from "./story.mjs";

function drawn(run, options, step = null) {
  const { root } = shapeOf(run.tree, viewAt(run, step), options);
  return { root, ...layOut(root, { measure }) };
}

function assertNoOverlap({ boxes }) {
  const byColumn = Map.groupBy ? Map.groupBy(boxes, (one) => one.column) : new Map(boxes.map((one) => [one.column, boxes.filter((each) => each.column === one.column)]));
  for (const column of byColumn.values()) {
    const rows = column.map((one) => one.y).sort((a, b) => a - b);
    for (let i = 1; i < rows.length; i += 1) assert.ok(rows[i] - rows[i - 1] >= HEIGHT, `rows ${rows}`);
  }
}

for (const detail of ["path", "turn", "all"]) {
  test(`the deciding path is a straight line in detail ${detail}`, () => {
    for (const step of [...played().steps.keys(), null]) {
      const drawing = drawn(played(), { detail }, step);
      const line = new Set(litLine(drawing.root));
      const rows = new Set(drawing.boxes.filter((one) => line.has(one.box)).map((one) => one.row));
      assert.equal(rows.size, 1);
      assertNoOverlap(drawing);
    }
  });
}

test("in detail Turn the columns together are no higher than the stage", () => {
  const many = (path, count) => Array.from({ length: count }, (_, at) => [`${path}/n${at}`, "action"]);
  const tree = indexTree({ name: "t", nodes: nodes([
    ["root", "sequence"], ...many("root", 6), ["root/turn", "sequence"], ["root/turn/first", "sequence"], ["root/turn/first/end", "exit"], ...many("root/turn", 20),
  ]) });
  const view = { statuses: new Map(), focus: tree.byPath.get("root/turn/first/end"), end: true };
  for (const height of [300, 400, 500]) {
    const { top, bottom } = fitted(tree, view, { detail: "turn", width: 2000, height, measure, opened: new Set(), closed: new Set() });
    assert.ok(bottom - top <= height, `${bottom - top} of ${height}`);
  }
});

test("columns are as wide as their widest box, and a gap apart", () => {
  const { boxes, columns } = drawn(played(), { detail: "turn" });
  for (const one of boxes) {
    const left = columns.slice(0, one.column).reduce((sum, width) => sum + width + GAP, 0);
    assert.equal(one.left, left);
    assert.ok(one.x + one.width <= left + columns[one.column] + 0.001);
  }
});

test("siblings keep their order, above and below the line", () => {
  const { boxes, root } = drawn(played(), { detail: "turn" });
  for (const parent of new Set(boxes.map((one) => one.parent))) {
    const rows = boxes.filter((one) => one.parent === parent).map((one) => one.row);
    assert.deepEqual(rows, [...rows].sort((a, b) => a - b));
  }
  assert.equal(boxes[0].box, root);
});

test("an only child lies in its parent's row", () => {
  const { boxes } = drawn(played(), { detail: "all" });
  const byBox = new Map(boxes.map((one) => [one.box, one]));
  for (const one of boxes.filter((each) => each.parent?.children.length === 1)) assert.equal(one.row, byBox.get(one.parent).row);
});

test("a subtree and its root, and a decorator and its child, are one box", () => {
  const { boxes } = drawn(played(), { detail: "all" });
  const labels = boxes.map((one) => one.box.label);
  assert.equal(labels.filter((label) => label === "turn").length, 1);
  const timed = boxes.find((one) => one.box.label === "call model").box;
  assert.deepEqual(timed.wrappers.map((node) => node.kind), ["timeout"]);
});

test("a branch that only looks successful is shown as the no that it was", () => {
  const { boxes } = drawn(played(), { detail: "all" });
  assert.equal(boxes.find((one) => one.box.label === "circles").box.status, "failure");
});

test("the box that decided is marked, the one that runs is not", () => {
  const decided = (run, step) => drawn(run, { detail: "turn" }, step).boxes.filter((one) => one.box.decided).map((one) => one.box.label);
  assert.deepEqual(decided(played(), null), ["exit turns"]);
  assert.deepEqual(decided(whileWriting(2), null), []);
});

test("a narrow stage joins boxes and turns the first ones into words", () => {
  const run = played();
  const view = viewAt(run);
  const at = (width) => fitted(run.tree, view, { detail: "turn", width, height: 400, measure, opened: new Set(), closed: new Set() });
  const wide = at(2000);
  const narrow = at(480);
  assert.equal(wide.crumbs.length, 0);
  assert.ok(narrow.width <= 480, `${narrow.width}`);
  assert.ok(litLine(narrow.root).length < litLine(wide.root).length);
  assert.equal(litLine(narrow.root).at(-1).label, "exit turns");
});

test("what the reader opens and closes stays so", () => {
  const T = "question/turns/turn/turn";
  const labels = (options) => drawn(played(), { detail: "turn", ...options }).boxes.map((one) => one.box.label);
  assert.ok(!labels({}).includes("wants more"));
  assert.ok(labels({ opened: new Set([`${T}/decide/need_turn`]) }).includes("wants more"));
  assert.ok(!labels({ closed: new Set(["question/turns"]) }).includes("decide"));
});

/** A tree with the given number of children for each node, down to a depth. */
function big(width, depth) {
  const rows = [["r", "sequence"]];
  const grow = (path, left) => {
    for (let i = 0; i < width; i += 1) {
      rows.push([`${path}/n${i}`, left > 1 ? "selector" : "action"]);
      if (left > 1) grow(`${path}/n${i}`, left - 1);
    }
  };
  grow("r", depth);
  return indexTree({ name: "big", nodes: nodes(rows) });
}

test("the work grows with the nodes, not with their square", () => {
  const asked = (tree) => {
    let count = 0;
    const view = { statuses: new Map(), focus: tree.nodes.at(-1) };
    const { root } = shapeOf(tree, view, { detail: "all" });
    const drawing = layOut(root, { measure: (text) => { count += 1; return text.length * 6; } });
    assertNoOverlap(drawing);
    assert.equal(drawing.boxes.length, tree.nodes.length);
    return count;
  };
  const small = big(3, 4);
  const large = big(3, 6);
  assert.ok(large.nodes.length > 1000);
  assert.ok(asked(large) / asked(small) <= (1.5 * large.nodes.length) / small.nodes.length);
});

test("rows are 26 pixels apart", () => {
  const { boxes } = drawn(played(), { detail: "turn" });
  assert.ok(boxes.every((one) => one.y % ROW === 0));
});

test("every folded box can be opened, also one beside a joined box", () => {
  const run = played();
  for (const join of [0, 2, 4]) {
    const before = drawn(run, { detail: "path", join });
    for (const one of before.boxes.filter((each) => each.box.isFolded && each.box.count > 0)) {
      const after = drawn(run, { detail: "path", join, opened: new Set(one.box.isGroup ? one.box.units.map((unit) => `=${unit.path}`) : [one.box.id]) });
      assert.ok(after.boxes.length > before.boxes.length, one.box.id);
    }
  }
});
