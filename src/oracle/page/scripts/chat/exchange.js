// A question and its answer, made from the chunks of its run. Pure: it draws and asks nothing.
import { markWords } from "../words.js";

/** `stored` is an exchange of GET /api/sessions/SESSION, or what is known of a run that has just begun. */
export function newExchange(stored) {
  const meta = stored.metadata ?? {};
  return {
    id: stored.id,
    // An answer may be kept longer than its run. While there is no answer, the exchange is named after its run.
    runId: stored.run_id ?? (stored.answer == null ? stored.id : null),
    parentId: stored.parent_id ?? null,
    question: stored.question,
    answer: stored.answer ?? null,
    createdAt: stored.created_at ?? Date.now() / 1000,
    stopReason: meta.stop_reason ?? null,
    usage: meta.usage ?? null,
    kind: null,
    turns: [],
    text: "",
    sources: [],
    citations: null,
    approvals: [],
    notices: [],
    done: null,
    error: null,
    isLive: stored.answer == null,
    isHeard: false,
    version: 0,
  };
}

const TAKE = {
  question(exchange, chunk) {
    exchange.kind = { type: chunk.query_type, confidence: chunk.confidence, tools: chunk.tools };
  },
  turn_start(exchange, chunk) {
    const turn = turnOf(exchange, chunk.turn);
    turn.offered = chunk.offered.length;
    exchange.text = "";
  },
  content(exchange, chunk) {
    turnOf(exchange, chunk.turn).text += chunk.content;
    exchange.text += chunk.content;
  },
  reasoning(exchange, chunk) {
    turnOf(exchange, chunk.turn).reasoning += chunk.content;
  },
  tool_call(exchange, chunk) {
    turnOf(exchange, chunk.turn).calls.push({ id: chunk.id, name: chunk.name, arguments: chunk.arguments, result: null });
  },
  tool_result(exchange, chunk) {
    const calls = turnOf(exchange, chunk.turn).calls;
    const call = calls.find((one) => one.id === chunk.id && !one.result);
    const result = { isGood: chunk.success, text: chunk.content, sources: chunk.sources?.length ?? 0, wasRun: chunk.was_run };
    if (call) call.result = result;
    else calls.push({ id: chunk.id, name: chunk.name, arguments: {}, result });
  },
  signal(exchange, chunk) {
    turnOf(exchange, chunk.turn).signal = chunk.signal;
  },
  verdict(exchange, chunk) {
    turnOf(exchange, chunk.turn).verdict = { verdict: chunk.verdict, reason: chunk.reason, node: chunk.node };
  },
  cost(exchange, chunk) {
    const turn = turnOf(exchange, chunk.turn);
    turn.tokens += chunk.tokens;
    turn.money += chunk.money;
    turn.seconds += chunk.seconds;
  },
  system(exchange, chunk) {
    exchange.notices.push({ turn: chunk.turn, text: chunk.content, severity: chunk.severity });
  },
  approval(exchange, chunk) {
    const known = exchange.approvals.find((one) => one.id === chunk.id);
    if (!known) exchange.approvals.push({ id: chunk.id, turn: chunk.turn, text: chunk.content, tools: chunk.tools, calls: chunk.calls ?? [], isOpen: true, said: null });
  },
  turn_end(exchange, chunk) {
    const turn = turnOf(exchange, chunk.turn);
    turn.outcome = chunk.outcome;
    exchange.usage = chunk.usage;
    // What follows a draft is another text; the draft stays inside its step.
    if (chunk.outcome !== "answer" && chunk.outcome !== "cut") exchange.text = "";
  },
  sources(exchange, chunk) {
    exchange.sources = chunk.sources;
    exchange.citations = chunk.citations ? numbered(chunk.citations) : [];
  },
  error(exchange, chunk) {
    exchange.error = chunk.content;
  },
  done(exchange, chunk) {
    exchange.done = { ...chunk, missing: (chunk.missing ?? []).flatMap(listed) };
    exchange.answer = chunk.answer;
    exchange.stopReason = chunk.stop_reason;
    exchange.usage = chunk.usage;
    exchange.isLive = false;
  },
};

/** A model may write what is missing as a list: each of it is a row. */
function listed(text) {
  try {
    const found = JSON.parse(text);
    return Array.isArray(found) ? found.map(String) : [text];
  } catch {
    return [text];
  }
}

/** Take a chunk in. A run that waits for a person says nothing, so whatever it says ends the waiting. */
export function takeChunk(exchange, chunk) {
  if (chunk.type !== "approval") for (const one of exchange.approvals) one.isOpen = false;
  TAKE[chunk.type]?.(exchange, chunk);
  exchange.version += 1;
}

function turnOf(exchange, number) {
  let turn = exchange.turns.find((one) => one.turn === number);
  if (!turn) {
    turn = { turn: number, text: "", reasoning: "", calls: [], signal: null, verdict: null, outcome: null, offered: null, tokens: 0, money: 0, seconds: 0 };
    exchange.turns.push(turn);
  }
  return turn;
}

/** Numbered in the order of the answer, as the sources are. */
function numbered(citations) {
  return citations.map((citation, index) => ({ ...citation, number: index + 1, holds: citation.status === "resolved", problem: problemOf(citation) }));
}

function problemOf(citation) {
  return markWords(citation.mark) || (citation.status === "resolved" ? null : citation.status);
}

/** How many citations hold, of how many. */
export function holding(exchange) {
  const all = exchange.citations ?? [];
  return { of: all.length, hold: all.filter((one) => one.holds).length };
}

/** The exchanges from the root of the conversation to `leaf`. */
export function branchTo(exchanges, leaf) {
  const branch = [];
  for (let id = leaf; id && exchanges.has(id); id = exchanges.get(id).parentId) branch.push(exchanges.get(id));
  return branch.reverse();
}

/** Those that follow the same exchange, this one included, oldest first. */
export function siblingsOf(exchanges, exchange) {
  return [...exchanges.values()].filter((one) => one.parentId === exchange.parentId).sort((a, b) => a.createdAt - b.createdAt);
}

/** The newest exchange at or below this one. */
export function newestBelow(exchanges, id) {
  let newest = exchanges.get(id);
  const below = new Set([id]);
  for (const one of [...exchanges.values()].sort((a, b) => a.createdAt - b.createdAt)) {
    if (!below.has(one.parentId)) continue;
    below.add(one.id);
    if (one.createdAt >= newest.createdAt) newest = one;
  }
  return newest.id;
}
