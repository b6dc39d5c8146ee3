// Two trees as one, and two runs at one place. Pure.
import { boundsOf } from "./lanes.js";
import { indexTree, viewAt } from "./reduce.js";

/** The nodes of both trees, depth first; `missing[side]` are the paths that this side does not have. */
export function unionTree(a, b) {
  const nodes = [];
  const walk = (lefts, rights) => {
    for (const [left, right] of aligned(lefts, rights)) {
      const { path, name, kind, parent, leaf, description, reads, writes, file, line, expression, options } = left ?? right;
      nodes.push({ path, name, kind, parent, leaf, description, reads, writes, file, line, expression, options });
      walk(left?.children ?? [], right?.children ?? []);
    }
  };
  walk(a.roots, b.roots);
  const lacks = (tree) => new Set(nodes.filter((node) => !tree.byPath.has(node.path)).map((node) => node.path));
  return { tree: indexTree({ name: a.name, nodes }), missing: { a: lacks(a), b: lacks(b) } };
}

// Pairs of siblings with the same path; one that only the right has comes after its left neighbour.
function aligned(lefts, rights) {
  const byPath = new Map(rights.map((node) => [node.path, node]));
  const known = new Set(lefts.map((node) => node.path));
  const pairs = lefts.map((node) => [node, byPath.get(node.path) ?? null]);
  rights.forEach((node, at) => {
    if (known.has(node.path)) return;
    const before = rights.slice(0, at).findLast((one) => pairs.some(([l, r]) => (l ?? r).path === one.path));
    const place = before ? pairs.findIndex(([l, r]) => (l ?? r).path === before.path) + 1 : 0;
    pairs.splice(place, 0, [null, node]);
  });
  return pairs;
}

/** A place is a turn and a share of it, so that one playhead fits two runs of different length. */
export function stepAtPlace(run, { turn, share }) {
  const bounds = boundsOf(run);
  const bound = bounds.find((one) => one.turn === turn);
  if (!bound) return run.steps.length;
  const end = bound.to?.step ?? run.steps.length;
  return Math.round(bound.from.step + (end - bound.from.step) * share);
}

/** Differences with the turn in whose column they lie: what the ledger says first is recorded with the turn before. */
export function placedDifferences(differences, ...runs) {
  return differences.map((one) => {
    for (const run of runs) {
      const step = (run.nodes.get(one.path) ?? []).findLast((change) => change.turn === one.turn)?.step;
      const bound = step === undefined ? null : boundsOf(run).find((each) => step < (each.to?.step ?? Infinity));
      if (bound) return { ...one, turn: bound.turn };
    }
    return { ...one, turn: Math.max(1, one.turn) };
  });
}

export function viewAtPlace(run, place) {
  const last = run.turns.at(-1)?.turn ?? 1;
  const isEnd = place.turn > last || (place.turn === last && place.share >= 1);
  return viewAt(run, isEnd ? null : stepAtPlace(run, place));
}

const NUMBERS = ["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"];

/** "Two decisions differ, both in turn 3. The answer is the same." in two parts. */
export function verdictWords(differences, isSameAnswer) {
  const count = differences.length;
  const answer = isSameAnswer ? "The answer is the same." : "The answer differs too.";
  if (count === 0) return { head: "No decision differs.", rest: answer };
  const turns = [...new Set(differences.map((one) => Math.max(1, one.turn)))];
  const where = turns.length === 1 ? `, ${count === 1 ? "" : count === 2 ? "both " : "all "}in turn ${turns[0]}.` : `, in turns ${turns.slice(0, -1).join(", ")} and ${turns.at(-1)}.`;
  return { head: `${NUMBERS[count] ?? count} ${count === 1 ? "decision differs" : "decisions differ"}`, rest: `${where} ${answer}` };
}

/** What a side decided, in words. The server says it as a text or as an object. */
export function sideWords(side) {
  if (side == null) return "not reached";
  if (typeof side === "string") return side;
  return side.words ?? side.verdict ?? side.outcome ?? STATUS[side.status] ?? side.status ?? "not reached";
}

const STATUS = { success: "yes", failure: "no", skipped: "skipped", running: "running", halted: "halted", error: "broken", gone: "not in its tree" };
