// Where turns, requests, calls and signals lie on the timeline. Pure.
//
// By turn, each turn has a column of one width. Within it a place is half by time and half by steps: by time alone the
// model's request would leave no room for what the tree did, by steps alone it would be a point.

import { endTime } from "./reduce.js";

const COLUMNS = [4, 8, 16, 30];
const SPANS = [5, 15, 30, 60, 120, 300, 600, 1800, 3600]; // seconds

/**
 * `columns` is how many there are at least, for two runs below each other. `label` is the room that the words of a
 * signal need at its right, in pixels; with `isApart` nothing that follows lies below them.
 */
export function lanesOf(run, { width, left = 0, byTime = false, columns: least = 0, label = 0, isApart = false }) {
  const bounds = boundsOf(run);
  const room = Math.max(1, width - left);
  const frame = byTime ? timeFrame(run, bounds, left, room) : turnFrame(run, bounds, left, room, { least, label, isApart });
  const { columns, xOf } = frame;
  const end = { at: endTime(run), step: run.steps.length };
  const span = (one) => ({ ...one, x: xOf(one), right: xOf(one.end ?? end), isOpen: !one.end && run.isLive });
  const byTurn = (list) => bounds.map((bound) => list.filter((one) => one.turn === bound.turn));
  return {
    columns, xOf,
    models: run.models.map(span),
    calls: byTurn(run.calls).flatMap((calls) => stacked(calls.map(span))),
    signals: run.signals.map((signal) => ({ ...signal, x: xOf(modelEnd(run, signal) ?? signal) })),
    width, left,
  };
}

// A turn's column begins where the one before ended, so that what the ledger says first belongs to it.
export function boundsOf(run) {
  const bounds = [];
  let from = { at: 0, step: 0 };
  for (const turn of run.turns) {
    bounds.push({ turn: turn.turn, from, to: turn.end, outcome: turn.outcome });
    if (turn.end) from = turn.end;
  }
  const last = bounds.at(-1);
  if (last && run.end) last.to = { at: Math.max(endTime(run), last.to?.at ?? 0), step: run.steps.length };
  return bounds;
}

function turnFrame(run, bounds, left, room, { least, label, isApart }) {
  const wanted = Math.max(1, least, bounds.length);
  const count = run.isLive ? COLUMNS.find((one) => one >= wanted) ?? Math.ceil(wanted / 30) * 30 : wanted;
  const each = room / count;
  const columns = bounds.map((bound, at) => ({ ...bound, x: left + at * each, width: each, bend: bendOf(run, bound, label / each, isApart) }));
  const xOf = ({ at, step }) => {
    const column = columns.findLast((one) => step > one.from.step || one === columns[0]);
    if (!column) return left;
    return column.x + column.width * bent(column.bend, Math.max(0, Math.min(1, share(column, at ?? 0, step))));
  };
  return { columns, xOf };
}

// A signal late in its turn has no room for its words. Then what comes before it is drawn closer together.
function bendOf(run, bound, room, isApart) {
  const signal = run.signals.findLast((one) => one.turn === bound.turn);
  if (!signal || !bound.to || room <= 0 || room > 0.7) return null;
  const { at, step } = modelEnd(run, signal) ?? signal;
  const from = Math.max(0, Math.min(1, share(bound, at ?? 0, step)));
  const rest = isApart ? 0.28 : 0; // for what follows the words
  return { from, to: Math.min(from, Math.max(0.1, 1 - room - rest)), gap: isApart ? room : 0 };
}

function bent(bend, place) {
  if (!bend) return place;
  const { from, to, gap } = bend;
  if (place <= from) return from > 0 ? (place / from) * to : place;
  return to + gap + ((place - from) / (1 - from)) * (1 - to - gap);
}

// A turn that still runs has no end to measure by: its place is only ever pushed on, never scaled anew.
function share(column, at, step) {
  const seconds = Math.max(0, at - column.from.at);
  const steps = Math.max(0, step - column.from.step);
  if (!column.to) return 0.9 * (0.5 * (seconds / (seconds + 4)) + 0.5 * (steps / (steps + 40)));
  const time = column.to.at > column.from.at ? seconds / (column.to.at - column.from.at) : 1;
  const done = column.to.step > column.from.step ? steps / (column.to.step - column.from.step) : 1;
  return (Math.min(1, time) + Math.min(1, done)) / 2;
}

function timeFrame(run, bounds, left, room) {
  const end = endTime(run);
  const whole = run.isLive ? SPANS.find((one) => one >= end) ?? end * 1.25 : Math.max(end, 0.001);
  const xOf = ({ at }) => left + room * Math.min(1, (at ?? 0) / whole);
  const columns = bounds.map((bound) => {
    const x = xOf(bound.from);
    return { ...bound, x, width: Math.max(0, xOf(bound.to ?? { at: end }) - x) };
  });
  return { columns, xOf, whole };
}

// Calls that ran side by side lie below each other.
function stacked(calls) {
  const ends = [];
  return calls.map((call) => {
    let row = ends.findIndex((end) => end <= call.x + 0.5);
    if (row < 0) row = ends.length;
    ends[row] = call.right;
    return { ...call, row };
  });
}

function modelEnd(run, signal) {
  return run.models.findLast((one) => one.turn === signal.turn)?.end ?? null;
}

/** The number of steps whose place is nearest to x. */
export function stepAt(run, lanes, x) {
  let low = 0;
  let high = run.steps.length;
  const place = (step) => lanes.xOf(placeOf(run, step));
  while (low < high) {
    const middle = (low + high) >> 1;
    if (place(middle) < x) low = middle + 1; else high = middle;
  }
  if (low > 0 && x - place(low - 1) < place(low) - x) low -= 1;
  return low;
}

export function placeOf(run, step) {
  const count = step == null ? run.steps.length : step;
  const at = step == null || count === run.steps.length ? endTime(run) : run.steps[count - 1]?.at ?? 0;
  return { at, step: count };
}
