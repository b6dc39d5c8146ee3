// From the events of a run to what the panes show. Pure: no DOM, no clock.
//
// `take` adds one event to a run. `viewAt` gives the moment after a number of steps; a step is one change of a
// node's status. Everything else an event brings is remembered with the number of steps before it, so that one
// number, the playhead, says what each pane shows.

export const ENDED = new Set(["success", "failure", "skipped", "halted", "error"]);

export function newRun(id) {
  return {
    id, version: 0, tree: null, nodes: new Map(), steps: [], turns: [], signals: [], calls: [], models: [],
    decisions: [], budgets: [], tools: [], costs: [], texts: [], warnings: [], question: null, prompt: null, sources: null,
    held: null, end: null, isLive: true, at: 0,
  };
}

export function take(run, type, data) {
  const handler = TAKES[type];
  if (!handler) return run; // a newer server may say more than this page knows
  handler(run, data);
  if (data.at > run.at) run.at = data.at;
  // Text comes many times a second and changes nothing of a moment but its length.
  if (type !== "text") run.version += 1;
  return run;
}

const TAKES = {
  tree(run, data) { run.tree = indexTree(data); },
  node(run, data) { addStep(run, data); },
  nodes(run, data) { for (const change of Array.isArray(data) ? data : data.nodes ?? []) addStep(run, change); },
  turn: takeTurn,
  signal: takeSignal,
  decision(run, data) { run.decisions.push(stamped(run, data)); },
  call(run, data) { takeSpan(run, run.calls, data, (one) => one.id === data.id); },
  model(run, data) { takeSpan(run, run.models, data, (one) => one.turn === data.turn); },
  cost(run, data) { run.costs.push(stamped(run, data)); },
  question(run, data) { run.question = data; },
  text(run, data) { run.texts.push(stamped(run, data)); },
  budget(run, data) { run.warnings.push(stamped(run, data)); },
  prompt: takePrompt,
  sources(run, data) { run.sources = { cited: data.cited ?? [], found: data.found ?? [] }; },
  held(run, data) { run.held = stamped(run, data); },
  released(run) { run.held = null; },
  end(run, data) { run.end = stamped(run, data); run.isLive = false; run.held = null; },
};

// The nodes come depth first, so the nodes below one are a range of indices.
export function indexTree(data) {
  const byPath = new Map();
  const nodes = data.nodes.map((node, index) => ({ ...node, index, children: [], end: index + 1, depth: 0 }));
  for (const node of nodes) byPath.set(node.path, node);
  const roots = [];
  for (const node of nodes) {
    const parent = node.parent == null ? null : byPath.get(node.parent);
    if (!parent) { roots.push(node); continue; }
    node.depth = parent.depth + 1;
    parent.children.push(node);
  }
  for (let i = nodes.length - 1; i >= 0; i -= 1) {
    const last = nodes[i].children.at(-1);
    if (last) nodes[i].end = last.end;
  }
  return { ...data, nodes, byPath, roots };
}

function stamped(run, data) {
  return { ...data, step: run.steps.length };
}

function addStep(run, change) {
  const step = stamped(run, change);
  if (change.at > run.at) run.at = change.at;
  run.steps.push(step);
  const history = run.nodes.get(step.path);
  if (history) history.push(step); else run.nodes.set(step.path, [step]);
}

function takeTurn(run, data) {
  let turn = run.turns.find((one) => one.turn === data.turn);
  if (!turn) {
    turn = { turn: data.turn, start: null, end: null, outcome: null, usage: null };
    run.turns.push(turn);
  }
  const mark = { at: data.at, step: run.steps.length };
  if (data.phase === "end") {
    turn.end = mark;
    // A turn that was cut off has its text taken as the answer afterwards: it was cut off all the same.
    if (turn.outcome !== "cut") turn.outcome = data.outcome ?? null;
    turn.usage = data.usage ?? null;
  } else {
    turn.start = mark;
  }
  // A turn always has tools, if only withheld ones: with none named, nothing is known, and the last list still counts.
  if (data.tools?.length) run.tools.push({ ...mark, turn: data.turn, list: data.tools });
  if (data.budgets) run.budgets.push({ ...mark, turn: data.turn, list: data.budgets });
}

// A signal comes twice: when it is read, and once more when the tree has judged it.
function takeSignal(run, data) {
  const known = run.signals.findLast((one) => one.turn === data.turn && one.type === data.type && !one.judged);
  if (!known) { run.signals.push({ ...stamped(run, data), judged: data.verdict ? { step: run.steps.length } : null }); return; }
  Object.assign(known, { verdict: data.verdict, why: data.why ?? known.why, confidence: data.confidence ?? known.confidence, judged: { step: run.steps.length } });
}

// The first one has the segments; later ones only what was added since.
function takePrompt(run, data) {
  run.prompt ??= { segments: [], added: [] };
  if (data.segments?.length) run.prompt.segments = joinedByName(data.segments);
  run.prompt.added.push(...(data.added ?? []));
}

// Each message of a long conversation is a part of its own: "history" a thousand times. It is one row.
function joinedByName(segments) {
  const rows = new Map();
  for (const { name, tokens, text } of segments) {
    const row = rows.get(name) ?? rows.set(name, { name, tokens: 0, texts: [] }).get(name);
    row.tokens += tokens;
    row.texts.push(text);
  }
  return [...rows.values()].map(({ name, tokens, texts }) => ({ name, tokens, count: texts.length, text: texts.join("\n\n") }));
}

function takeSpan(run, spans, data, isSame) {
  if (data.phase !== "end") { spans.push({ ...stamped(run, data), end: null }); return; }
  const span = spans.findLast((one) => isSame(one) && !one.end);
  const end = { at: data.at, step: run.steps.length, success: data.success ?? true, error: data.error ?? null, seconds: data.seconds };
  if (span) span.end = end; else spans.push({ ...stamped(run, data), end });
}

// The moment after `step` steps; null is the end, which in a live run is now.
export function viewAt(run, step = null) {
  const count = run.steps.length;
  const at = step == null ? count : Math.max(0, Math.min(step, count));
  const isEnd = step == null || at === count;
  const statuses = statusesAt(run, at);
  const past = (list) => (isEnd ? list : list.filter((one) => one.step <= at));
  const last = at > 0 ? run.steps[at - 1] : null;
  const turns = past(run.turns.map((turn) => ({ ...turn, step: turn.start?.step ?? turn.end?.step ?? 0 })));
  const view = {
    step: at, steps: count, isEnd, isLive: isEnd && run.isLive, statuses, last,
    time: isEnd ? endTime(run) : last?.at ?? 0,
    turn: turns.at(-1)?.turn ?? last?.turn ?? 0,
    turns,
    signals: past(run.signals).map((one) => unjudged(one, at, isEnd)), decisions: past(run.decisions), calls: past(run.calls), models: past(run.models),
    budgets: past(run.budgets).at(-1)?.list ?? [],
    tools: past(run.tools).at(-1)?.list ?? [],
    end: isEnd ? run.end : null,
    held: isEnd ? run.held : null,
  };
  view.decided = decidedAt(run, view);
  view.focus = focusOf(run, view);
  leaveThrough(run.tree, view);
  return view;
}

function unjudged(signal, at, isEnd) {
  return isEnd || !signal.judged || signal.judged.step <= at ? signal : { ...signal, verdict: null, why: null };
}

/** Seconds from the beginning to the newest event. */
export const endTime = (run) => run.at;

// A node that changes below one that had ended begins it anew: what was there before belongs to an earlier round.
// A moment is mostly asked for after an earlier one, so what was found for that is gone on with.
const FOUND = new WeakMap();

function statusesAt(run, at) {
  const { tree } = run;
  if (!tree) return new Map();
  const before = FOUND.get(run);
  const isOn = before && before.tree === tree && before.at <= at;
  const found = isOn ? before : { tree, at: 0, statuses: new Map() };
  follow(run, found, at);
  FOUND.set(run, found);
  const statuses = new Map(found.statuses);
  if (at > 0) beginAbove(tree, statuses, run.steps[at - 1]);
  return statuses;
}

function follow({ tree, steps }, found, at) {
  const { statuses } = found;
  for (let i = found.at; i < at; i += 1) {
    const step = steps[i];
    const node = tree.byPath.get(step.path);
    if (!node) continue;
    for (const above of ancestorsOf(tree, node)) {
      if (isOver(statuses.get(above.path), step)) { clearBelow(tree, statuses, above); break; }
    }
    statuses.set(step.path, step);
  }
  found.at = at;
}

// An exit halts the nodes between itself and its loop, and they still end in that tick.
function isOver(earlier, step) {
  if (!earlier || !ENDED.has(earlier.status)) return false;
  return earlier.status !== "halted" || earlier.tick !== step.tick;
}

// A node reports at the end of its tick. What is above the newest change has begun, though nothing was said yet.
function beginAbove(tree, statuses, last) {
  const node = tree.byPath.get(last.path);
  if (!node) return;
  for (const above of ancestorsOf(tree, node)) {
    if (!statuses.has(above.path)) statuses.set(above.path, { ...last, path: above.path, status: "running" });
  }
}

const ANCESTORS = new WeakMap();

export function ancestorsOf(tree, node) {
  let found = ANCESTORS.get(node);
  if (!found) {
    const parent = node.parent == null ? null : tree.byPath.get(node.parent);
    found = parent ? [...ancestorsOf(tree, parent), parent] : [];
    ANCESTORS.set(node, found);
  }
  return found;
}

function clearBelow(tree, statuses, above) {
  for (let i = above.index; i < above.end; i += 1) statuses.delete(tree.nodes[i].path);
}

// Where the eye belongs: what runs, else what decided or was cut off, else what changed last.
export function focusOf(run, view) {
  const { tree } = run;
  if (!tree) return null;
  if (view.held) return tree.byPath.get(view.held.path) ?? null;
  const broken = view.isEnd ? lastWith(tree, view, (step) => step.status === "error") : null;
  if (broken) return broken;
  const running = runningLeaf(tree, view.statuses);
  if (running) return running;
  return view.decided ?? (view.end ? cutLeaf(run, view) : null) ?? lastLeaf(run, view) ?? tree.roots[0];
}

// An exit leaves the nodes between itself and its loop without a word of their own: they ended as it did.
function leaveThrough(tree, { decided, statuses }) {
  if (decided?.kind !== "exit") return;
  const exit = statuses.get(decided.path);
  for (const above of exit ? ancestorsOf(tree, decided) : []) {
    if (!statuses.has(above.path)) statuses.set(above.path, { ...exit, path: above.path });
  }
}

// What decided, once the turn or the run has ended.
function decidedAt(run, view) {
  const turn = view.turns.at(-1);
  if (!run.tree || !(view.end || (turn?.end && view.step >= turn.end.step))) return null;
  return decidingNode(run, view);
}

function runningLeaf(tree, statuses) {
  let found = null;
  for (const [path, step] of statuses) {
    if (step.status !== "running") continue;
    const node = tree.byPath.get(path);
    if (node.children.length === 0 && (!found || step.at >= statuses.get(found.path).at)) found = node;
  }
  return found;
}

function decidingNode(run, view) {
  const { tree } = run;
  const decision = view.decisions.findLast((one) => tree.byPath.has(one.path) && (one.turn === view.turn || view.end));
  const node = decision ? tree.byPath.get(decision.path) : null;
  if (!view.end) return node;
  // A verdict that ends the run is followed by the exit beside it: the exit is what decided.
  return lastExit(tree, view) ?? (cutLeaf(run, view, decision?.step) ? null : node);
}

// The leaf that was at work when the run was stopped, or when its time was over. Nothing was decided after that.
function cutLeaf({ tree }, view, after = 0) {
  return lastWith(tree, view, (step, node) => step.status === "halted" && step.turn === view.turn && step.step >= after && node.children.length === 0);
}

function lastExit(tree, view) {
  return lastWith(tree, view, (step, node) => node.kind === "exit" && step.status === "success" && leaves(tree, node));
}

// An exit from an inner loop ("until it fits") ends only that loop.
function leaves(tree, node) {
  const loops = ancestorsOf(tree, node).filter((above) => above.kind === "loop");
  return loops.length === 1 || loops[0]?.name === node.options?.loop;
}

function lastWith(tree, view, fits) {
  let found = null;
  let best = -1;
  for (const [path, step] of view.statuses) {
    const node = tree.byPath.get(path);
    if (step.step > best && fits(step, node)) { found = node; best = step.step; }
  }
  return found;
}

function lastLeaf(run, view) {
  for (let i = view.step - 1; i >= 0; i -= 1) {
    const node = run.tree.byPath.get(run.steps[i].path);
    if (node && node.children.length === 0) return node;
  }
  return null;
}

// The path from the root to a node, the root first.
export function pathTo(tree, node) {
  return node ? [...ancestorsOf(tree, node), node] : [];
}
