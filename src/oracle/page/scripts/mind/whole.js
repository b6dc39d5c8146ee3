// Detail All: the whole tree. Its places are found once and kept, so that nothing moves while a run is played, and a
// step costs what it changes: a status here, the line there. The rest of the drawing is not touched.
import { layOut } from "./layout.js";
import { ancestorsOf, viewAt } from "./reduce.js";
import { shapeOf, statusOf } from "./shape.js";

const UNKNOWN = new Map();
/** Boxes that one frame adds at most. To draw hundreds of them at once takes longer than a frame. */
const MOST_NEW = 60;
/** Boxes that are drawn together. A group in which nothing has changed is not looked at again. */
const GROUP = 32;
let drawings = 0;
let looks = 0;
/** The part of the stage at each edge in which the focus is not left. */
const EDGE = 0.1;

/**
 * The drawing of `run` as it is in `view`. `before` belongs to the caller, and keeps what was found.
 * It is made anew for another tree, for `key` (what was closed, the face), and if the reader chooses All again.
 */
export function wholeOf(run, view, { closed, key, measure, before }) {
  if (before.run !== run || before.tree !== run.tree || before.key !== key) {
    Object.assign(before, { run, tree: run.tree, key, drawing: laidOut(run, view, closed, measure), place: null });
  }
  light(before.drawing, run.tree, view);
  return before.drawing;
}

/** Draw all of it anew, in another size of detail. */
export function redraw(drawing, isTiny) {
  if (drawing.isTiny === isTiny) return;
  Object.assign(drawing, { isTiny, drawn: new Set(), groups: [], number: (drawings += 1) });
}

// The line that decided is straight. A run that is under way has none yet: then it is the line at which All was chosen.
function laidOut(run, view, closed, measure) {
  const focus = run.end ? viewAt(run).focus : view.focus;
  const shape = shapeOf(run.tree, { focus, statuses: UNKNOWN }, { detail: "all", closed, longest: Infinity });
  // Names on the line are bold. All boxes are as wide as that, or the line would push the others about.
  const drawing = { ...shape, ...layOut(shape.root, { measure: (text) => measure(text, true) }), detail: "all", way: 0 };
  drawing.index = new Map(drawing.boxes.map((one) => [one.box, one]));
  drawing.boxes.forEach((one, at) => { one.group = Math.floor(at / GROUP); });
  drawing.allEdges = drawing.edges.map((edge) => edge.d).join("");
  drawing.byPath = new Map(drawing.boxes.flatMap((one) => one.box.unit.members.map((node) => [node.path, one])));
  return drawing;
}

function light(drawing, tree, view) {
  const { focus, statuses } = view;
  const lit = new Set(focus ? [focus, ...ancestorsOf(tree, focus)].map((node) => node.path) : []);
  for (const one of drawing.boxes) {
    const { box } = one;
    const { unit } = box;
    const status = statusOf(unit, statuses);
    const step = statuses.get(unit.path)?.step;
    const isLit = lit.has(unit.path);
    const isFocus = isLit && unit.members.includes(focus);
    const decided = isFocus && status === "success" && unit.members.includes(view.decided);
    if (status === box.status && step === box.step && isLit === box.isLit && isFocus === box.isFocus && decided === box.decided) continue;
    Object.assign(box, { status, step, isLit, isFocus, decided });
    one.look = (looks += 1); // what is as it was keeps the drawing of this look
    if (drawing.groups) drawing.groups[one.group] = null;
  }
  drawing.focus = focus ? drawing.byPath.get(focus.path) ?? closedAbove(drawing, tree, focus) : null;
  drawing.litEdges = drawing.edges.filter((edge) => edge.box.isLit).map((edge) => edge.d).join("");
}

// The reader may have closed what the focus is in.
function closedAbove(drawing, tree, focus) {
  return ancestorsOf(tree, focus).map((node) => drawing.byPath.get(node.path)).findLast(Boolean) ?? null;
}

/** Where the world is. It stays where it is until the focus would leave the stage: one cannot read what moves. */
export function wholePlace(drawing, size, zoom, before) {
  const focus = drawing.focus ?? drawing.boxes[0];
  const kept = before.place;
  if (kept && kept.zoom === zoom && kept.size === size && isWithin(focus, kept, size)) return kept;
  before.place = { x: Math.min(20, size.width * 0.45 - focus.x * zoom), y: size.height * 0.42 - focus.y * zoom, zoom, size };
  return before.place;
}

function isWithin(focus, place, size) {
  const x = place.x + (focus.x + focus.width / 2) * place.zoom;
  const y = place.y + focus.y * place.zoom;
  const inside = (value, length) => value > length * EDGE && value < length * (1 - EDGE);
  // At the left end there is nothing more to bring in.
  return (inside(x, size.width) || (place.x === 20 && x < size.width / 2 && x > 0)) && inside(y, size.height);
}

/**
 * The boxes to draw: those in view, and those that were in view before, so that to come back costs nothing. If they
 * are too many for one frame, `isUnfinished` says that more are to come.
 */
export function wholeDrawn(drawing, isVisible) {
  const { drawn } = drawing;
  let left = MOST_NEW * (drawing.isTiny ? 2 : 1);
  drawing.isUnfinished = false;
  for (const one of drawing.boxes) {
    if (drawn.has(one) || !isVisible(one)) continue;
    if (left === 0) { drawing.isUnfinished = true; break; }
    left -= 1;
    drawn.add(one);
    drawing.groups[one.group] = null;
  }
  return drawing.boxes.filter((one) => drawn.has(one));
}

/**
 * The groups of the drawing. `its` are the boxes that look otherwise than their status says (chosen, in focus), by
 * name; `draw` draws a box, `wrap` a group. Only groups in which something has changed are drawn.
 */
export function grouped(drawing, its, draw, wrap) {
  for (const one of [...changes(drawing.its ?? {}, its)]) drawing.groups[one.group] = null;
  drawing.its = its;
  const count = Math.ceil(drawing.boxes.length / GROUP);
  for (let at = 0; at < count; at += 1) {
    drawing.groups[at] ??= wrap(at, drawing.boxes.slice(at * GROUP, (at + 1) * GROUP).filter((one) => drawing.drawn.has(one)).map(draw));
  }
  return drawing.groups.slice();
}

function changes(before, now) {
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...names].filter((name) => before[name] !== now[name]).flatMap((name) => [before[name], now[name]]).filter(Boolean);
}
