// Which nodes are drawn, and as what. Pure: from (tree, statuses, focus, detail) to a tree of boxes.
//
// A box stands for one node, or for a chain that is one thing to a reader: a subtree and its root, a decorator and
// its child, or a selector and the branch that it took ("claim checked › claim is believed"). Far siblings are one
// box too ("6 done").

import { ancestorsOf } from "./reduce.js";

// Decorators whose own name says more than that of their child. For the others it is the child's.
const NAMED = new Set(["always_succeed", "always_fail", "invert", "deferred"]);
const WRAPPERS = new Set([...NAMED, "timeout", "once", "retry", "repeat", "cooldown"]);
const GLYPHS = {
  sequence: "sequence", selector: "selector", reactive_sequence: "reactive", reactive_selector: "reactive",
  parallel: "parallel", loop: "loop", ladder: "ladder", exit: "exit", later: "later",
};
const NEAR = 2; // columns round the focus that detail Path shows in full
const NEAR_SIBLINGS = 3;
const LOW_STAGE = 13; // rows; below this fewer siblings are shown
const LONG_LABEL = 24; // characters of a joined name
const LONG_SIBLING = 19; // and of a name beside the line

const MANY_SIBLINGS = 8;
const NOTHING = new Set();
const UNITS = new WeakMap();

// The chain of nodes that one box stands for, outermost first.
export function unitOf(node) {
  let unit = UNITS.get(node);
  if (!unit) {
    const members = [node];
    let inner = node;
    while ((WRAPPERS.has(inner.kind) || inner.kind === "subtree") && inner.children.length === 1) {
      inner = inner.children[0];
      members.push(inner);
    }
    unit = makeUnit(node, inner, members);
    UNITS.set(node, unit);
  }
  return unit;
}

function makeUnit(outer, inner, members) {
  const naming = members.find((one) => NAMED.has(one.kind) || one.kind === "subtree") ?? inner;
  return {
    outer, inner, members, path: outer.path, label: labelOf(naming, inner),
    wrappers: members.filter((one) => WRAPPERS.has(one.kind)),
    shape: inner.kind === "condition" ? "capsule" : inner.kind === "guard" ? "tag" : "box",
    glyph: GLYPHS[inner.kind] ?? null,
    isLeaf: inner.children.length === 0,
    isAlways: members.some((one) => one.kind === "always_succeed" || one.kind === "always_fail"),
    count: outer.end - outer.index - members.length,
  };
}

function labelOf(naming, inner) {
  if (inner.kind === "exit") return exitLabel(inner);
  return naming.name || naming.kind;
}

export function exitLabel(node) {
  return node.options?.loop ? `exit ${node.options.loop}` : node.name || "exit";
}

// What a decorator makes of its child matters to its parent. A reader wants to know how the branch went: an
// `always_succeed` turns the "no" of "something repeats" into a success that nobody should see as a yes.
export function statusOf(unit, statuses) {
  const outer = statuses.get(unit.outer.path)?.status;
  const inner = statuses.get(unit.inner.path)?.status;
  if (inner === "halted" && outer !== "running") return "halted";
  if (unit.isAlways && inner) return inner;
  return outer ?? inner ?? null;
}

// `opened` and `closed` are sets of paths that the reader has opened or closed by hand.
export function shapeOf(tree, view, options) {
  const { detail = "turn", opened = new Set(), closed = new Set(), room = Infinity, join = 0, crumbs = 0, extra = null, longest = LONG_SIBLING, kept = NOTHING } = options;
  const lit = litPaths(tree, view.focus, extra);
  const context = { tree, view, detail, opened, closed, room, join, longest, kept, lit, extra, statuses: view.statuses, isOver: Boolean(view.end) };
  const line = lineOf(context);
  const root = buildBox(context, unitOf(tree.roots[0]), 0, line.length);
  for (const other of tree.roots.slice(1)) root.children.push(buildBox(context, unitOf(other), 1, line.length));
  joinAlong(root, join, context);
  return cutCrumbs(root, crumbs);
}

function litPaths(tree, focus, extra) {
  const lit = new Set();
  for (const node of [focus, ...(extra ?? [])]) {
    if (!node) continue;
    lit.add(node.path);
    for (const above of ancestorsOf(tree, node)) lit.add(above.path);
  }
  return lit;
}

// The units on the way to the focus, the root first.
function lineOf({ tree, lit }) {
  const line = [];
  let candidates = tree.roots;
  for (;;) {
    const node = candidates.find((one) => lit.has(one.path));
    if (!node) return line;
    const unit = unitOf(node);
    line.push(unit);
    candidates = unit.inner.children;
  }
}

function buildBox(context, unit, depth, length) {
  const { detail, opened, closed, lit, view } = context;
  const isLit = lit.has(unit.path);
  const isOpen = !closed.has(unit.path) && (isLit || detail === "all" || opened.has(unit.path));
  const box = baseBox(context, unit, isLit, depth);
  if (!isOpen || unit.isLeaf) { box.isFolded = !unit.isLeaf; return box; }
  const children = unit.inner.children.map((child) => unitOf(child));
  const at = children.findIndex((child) => lit.has(child.path) && isAbove(child, view.focus));
  const parts = partsOf(context, unit, children, at, depth, length);
  box.children = parts.map((part) => (part.isGroup ? part : buildBox(context, part, depth + 1, length)));
  if (view.focus && unit.members.includes(view.focus)) box.isFocus = true;
  return box;
}

function partsOf(context, unit, children, at, depth, length) {
  if (context.detail === "all") return children;
  if (context.extra) return groupBetween(context, unit, children);
  const limit = siblingLimit(context, depth, length, at, children.length);
  return limit ? groupFar(context, unit, children, at, limit) : children;
}

// Where several lines are lit (two runs in one shape), what lies between them is one box each.
function groupBetween(context, unit, children) {
  const parts = [];
  let between = [];
  const flush = () => { pushGroup(parts, context, unit, between, context.opened, `between ${parts.length}`); between = []; };
  for (const child of children) {
    if (context.lit.has(child.path)) { flush(); parts.push(child); } else between.push(child);
  }
  flush();
  return parts;
}

function baseBox(context, unit, isLit, depth) {
  const { view, statuses } = context;
  const status = statusOf(unit, statuses);
  const isFocus = Boolean(view.focus) && unit.members.includes(view.focus);
  return {
    id: unit.path, unit, label: isLit ? unit.label : shortened(unit.label, context.longest), fullLabel: unit.label, shape: unit.shape, glyph: unit.glyph, status,
    wrappers: unit.wrappers, isLit, isFocus, isMain: isLit && isAbove(unit, view.focus), depth, isLeaf: unit.isLeaf, isFolded: false, isGroup: false,
    decided: isFocus && status === "success" && unit.members.includes(view.decided),
    count: unit.count, children: [], only: onlyHas(context, unit),
    isKept: unit.members.some((one) => context.kept.has(one.path)), // never joined with another
  };
}

function isAbove(unit, focus) {
  return Boolean(focus) && unit.outer.index <= focus.index && focus.index < unit.outer.end;
}

// Names are sentences, and one long sentence beside the line would make its whole column wide.
function shortened(label, longest) {
  return label.length <= longest ? label : `${label.slice(0, longest - 1).trimEnd()}…`;
}

// In the union of two trees, a node that only one of them has is a dotted place on the other side.
function onlyHas(context, unit) {
  return context.view.missing?.has(unit.path) ?? false;
}

function siblingLimit(context, depth, length, at, count) {
  // Of the column of the children from the end of the line; joined boxes are one column.
  const distance = length - 2 - depth - context.join;
  if (context.detail === "path") {
    const near = context.room < LOW_STAGE ? NEAR_SIBLINGS - 1 : NEAR_SIBLINGS;
    if (at < 0) return { above: count, below: near };
    return distance < NEAR ? { above: near, below: near } : { above: 0, below: 0 };
  }
  // Turn: all children as far as there is room; more above the line than below it would push the line down.
  const rows = Math.max(6, context.room);
  if (count <= rows) return null;
  const above = Math.min(Math.max(at, 0), Math.floor(rows / 3));
  return { above, below: Math.max(2, rows - above - 2) };
}

function groupFar(context, unit, children, at, limit) {
  const middle = at < 0 ? children.length : at;
  const before = children.slice(0, middle);
  const after = children.slice(middle + 1);
  const kept = context.opened;
  const near = (list, most) => (most === 0 ? [] : list.slice(-most));
  const above = near(before, limit.above);
  const parts = [];
  pushGroup(parts, context, unit, before.slice(0, before.length - above.length), kept, "before");
  parts.push(...above);
  if (at >= 0) parts.push(children[at]);
  const below = after.slice(0, limit.below);
  const rest = after.slice(below.length);
  parts.push(...(rest.length === 1 ? after : below));
  if (rest.length > 1) pushGroup(parts, context, unit, rest, kept, "after");
  return parts;
}

// The reader has opened the group that it was in.
const isAlone = (unit, opened) => opened.has(`=${unit.path}`);

function pushGroup(parts, context, unit, list, opened, side) {
  const id = `${unit.path}//${side}`;
  if (list.length < 2 || list.some((one) => isAlone(one, opened))) { parts.push(...list); return; }
  parts.push(groupBox(context, unit, list, id));
}

export function groupBox(context, parent, list, id) {
  const statuses = list.map((unit) => statusOf(unit, context.statuses));
  const { word, status } = groupWord(statuses, parent.inner.kind, context.isOver);
  return {
    id, isGroup: true, kind: parent.inner.kind, label: `${list.length} ${word}`, status, shape: "box", glyph: null, wrappers: [], unit: null, units: list,
    isLit: false, isFocus: false, isLeaf: false, isFolded: true, decided: false, children: [], only: false,
    count: nodesOf(list),
  };
}

/** A group as it is in another run, of which `lacks` are the paths that its tree does not have. */
export function groupIn(box, statuses, lacks) {
  const units = box.units.filter((unit) => !lacks.has(unit.path));
  if (units.length === 0) return { ...box, label: `${box.units.length} not here`, status: null, only: true };
  const { word, status } = groupWord(units.map((unit) => statusOf(unit, statuses)), box.kind, true);
  return { ...box, label: `${units.length} ${word}`, status, count: nodesOf(units) };
}

const nodesOf = (units) => units.reduce((sum, unit) => sum + unit.outer.end - unit.outer.index, 0);

function groupWord(statuses, kind, isOver) {
  const all = (wanted) => statuses.every((status) => wanted.includes(status));
  if (all([null])) return { word: kind.endsWith("selector") ? "not asked" : isOver ? "not reached" : "later", status: null };
  if (all(["skipped"])) return { word: "skipped", status: "skipped" };
  if (all(["failure"])) return { word: "said no", status: "failure" };
  if (statuses.includes("error")) return { word: "with an error", status: "error" };
  if (statuses.includes(null)) return { word: "others", status: null };
  return { word: "done", status: "success" };
}

// Joins a box on the line with the child on the line, up to `count` times, the least telling first: an only child,
// then a branch whose siblings were not asked, then any. What stood beside the child stays, folded, beside the box.
function joinAlong(root, count, context) {
  for (let i = 0; i < count; i += 1) {
    const pairs = litLines(root).flatMap((line) => line.slice(0, -2).map((box, at) => ({ box, child: line[at + 1], cost: joinCost(box, line[at + 1], at) })));
    const best = pairs.reduce((least, pair) => (pair.cost < (least?.cost ?? Infinity) ? pair : least), null);
    if (!best || best.cost === Infinity) return;
    joinPair(root, best.box, best.child, context);
  }
}

export function litLine(root) {
  const line = [root];
  for (;;) {
    const next = line.at(-1).children.find((child) => child.isMain);
    if (!next) return line;
    line.push(next);
  }
}

// All of them: in a comparison each run has its own.
function litLines(root) {
  const lines = [];
  const waiting = [[root]];
  while (waiting.length > 0) {
    const line = waiting.pop();
    const next = line.at(-1).children.filter((child) => child.isLit);
    if (next.length === 0) lines.push(line);
    waiting.push(...next.map((child) => [...line, child]));
  }
  return lines;
}

function joinCost(box, child, at) {
  const siblings = box.children.filter((one) => one !== child);
  if (siblings.length === 0) return at;
  if (at === 0) return Infinity; // the root has no parent to which its other children could go
  if (box.isKept || child.isKept || siblings.some((one) => one.isLit)) return Infinity;
  if (siblings.length > MANY_SIBLINGS) return Infinity; // they are what the reader came for
  const asked = siblings.filter((one) => one.status !== null).length;
  // A selector with few branches is a question whose answer is the branch: both fit in one box.
  const isQuestion = box.glyph === "selector" && siblings.length <= 5 ? 14 : 0;
  return 20 + siblings.length * 2 + asked * 4 + child.wrappers.length * 30 - isQuestion;
}

function joinPair(root, box, child, context) {
  const parent = parentOf(root, box);
  box.joined = [...(box.joined ?? [{ id: box.id, label: box.label }]), ...(child.joined ?? [{ id: child.id, label: child.label }])];
  box.label = joinedLabel(box, child);
  box.wrappers = [...box.wrappers, ...child.wrappers];
  box.fullLabel = box.joined.map((one) => one.label).join(" › ");
  box.units = [...(box.units ?? [box.unit]), child.unit];
  box.isFocus = box.isFocus || child.isFocus;
  box.decided = child.decided;
  box.isLeaf = child.isLeaf;
  const at = box.children.indexOf(child);
  const [earlier, later] = [box.children.slice(0, at), box.children.slice(at + 1)];
  box.children = child.children;
  if (!parent || earlier.length + later.length === 0) { box.lastKind = child.unit.inner.kind; return; }
  const kind = box.lastKind ?? box.unit.inner.kind;
  box.lastKind = child.unit.inner.kind;
  box.before = merged([...(box.before ?? []), ...earlier], `${box.id}//joined-before`, kind, context);
  box.after = merged([...later, ...(box.after ?? [])], `${box.id}//joined-after`, kind, context);
  const others = parent.children.filter((one) => one === box || !one.id.startsWith(`${box.id}//joined-`));
  const place = others.indexOf(box);
  parent.children = [...others.slice(0, place).filter((one) => !box.before.includes(one)), ...box.before, box, ...box.after, ...others.slice(place + 1).filter((one) => !box.after.includes(one))];
}

// Of a selector the branch that it took says more, of anything else its own name.
function joinedLabel(box, child) {
  const [first] = box.joined;
  if (first.label === child.label) return first.label; // a guard and its branch often have one name
  if (first.label.length + child.label.length <= LONG_LABEL) return `${first.label} › ${child.label}`;
  return box.glyph === "selector" ? `› ${child.label}` : `${first.label} ›`;
}

function merged(boxes, id, kind, { opened, isOver }) {
  const units = boxes.flatMap((box) => box.units ?? [box.unit]);
  if (boxes.length < 2 || units.some((unit) => isAlone(unit, opened))) return boxes;
  const statuses = boxes.map((box) => box.status);
  const { word, status } = groupWord(statuses, kind, isOver);
  return [{ ...boxes[0], id, isGroup: true, kind, unit: null, units, label: `${units.length} ${word}`, status, count: nodesOf(units),
    shape: "box", glyph: null, wrappers: [], isFolded: true, isLeaf: false, children: [] }];
}

function parentOf(root, box) {
  if (root === box) return null;
  const line = litLines(root).find((one) => one.includes(box));
  return line[line.indexOf(box) - 1] ?? null;
}

// Detail Path: the first boxes of the line become words above the drawing; the last of them stays as its glyph.
function cutCrumbs(root, count) {
  const line = litLine(root);
  // Never so far that another lit line would be lost.
  const fork = line.findIndex((box) => box.children.some((child) => child.isLit && !child.isMain));
  const cut = Math.min(count, line.length - 2, fork < 0 ? Infinity : fork);
  if (cut <= 0) return { root, crumbs: [] };
  const top = line[cut];
  const crumbs = line.slice(0, cut + 1).map((box) => ({ id: box.id, label: box.fullLabel ?? box.label }));
  return { root: { ...top, isGlyph: true }, crumbs };
}
