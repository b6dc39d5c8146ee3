// Asking, listening and stopping. What is heard goes into the exchange; the panes draw it.
import { get, hearConnection, post } from "../api.js";
import { follow } from "../stream.js";
import { set, state, touch } from "../store.js";
import { go, replace } from "../router.js";
import { branchTo, newExchange, newestBelow, takeChunk } from "./exchange.js";
import { listSessions } from "../sessions/listing.js";

/** The name of a question that has no run yet. */
export const NEW = "new";
/** Asked after this, a question is another first one of its conversation. */
const BEFORE_FIRST = "";
const listening = new Map();

/** Open a conversation at one of its exchanges, by default at the newest. */
export async function openSession(id, exchangeId = null) {
  if (state.session?.id === id) {
    if (exchangeId && state.session.exchanges.has(exchangeId)) showExchange(exchangeId);
    return;
  }
  set({ session: { id, title: "", exchanges: new Map(), leaf: null, shown: null, isOpening: true } });
  const session = state.session;
  try {
    const [stored, runs] = await Promise.all([get(`/api/sessions/${id}`), get(`/api/runs?session_id=${id}&limit=100`)]);
    if (state.session !== session) return;
    for (const one of stored.exchanges) session.exchanges.set(one.id, newExchange(one));
    for (const run of runs.filter((one) => one.is_live && !session.exchanges.has(one.id))) {
      const live = newExchange({ id: run.id, parent_id: run.context_node_id, question: run.question, created_at: run.started_at });
      session.exchanges.set(live.id, live);
      hear(session, live);
    }
    const newest = [...session.exchanges.values()].sort((a, b) => b.createdAt - a.createdAt)[0];
    session.leaf = session.exchanges.has(exchangeId) ? newestBelow(session.exchanges, exchangeId) : (newest?.id ?? null);
    Object.assign(session, { title: stored.title, isOpening: false, shown: exchangeId ?? session.leaf, goTo: exchangeId });
  } catch (problem) {
    Object.assign(session, { isOpening: false, problem: problem.message, status: problem.status });
  }
  touch("session");
}

/** Bring an exchange into view, on its own branch. */
export function showExchange(id) {
  const { session } = state;
  if (!branchTo(session.exchanges, session.leaf).some((one) => one.id === id)) session.leaf = newestBelow(session.exchanges, id);
  Object.assign(session, { shown: id, goTo: id });
  touch("session");
}

/** Hear what a run said and says. One that has ended says it again from its record. */
export function hear(session, exchange) {
  if (!exchange.runId || listening.has(exchange.runId) || exchange.isHeard) return;
  listening.set(exchange.runId, true);
  exchange.isHeard = true;
  const path = `/api/runs/${exchange.runId}/stream`;
  follow(path, { ends: ["done"], on: taking(session, exchange), onState: hearConnection })
    // An answer is shown as it was stored, if the run it came from has been deleted since.
    .catch((problem) => (problem.status === 404 && exchange.answer != null ? forget(session, exchange) : fail(exchange, problem)))
    .finally(() => listening.delete(exchange.runId));
}

function forget(session, exchange) {
  exchange.runId = null;
  exchange.version += 1;
  if (state.session === session) touch("session");
}

/** Ask, after `parent` (the end of the branch if not given; null begins again at the root). */
export async function ask(question, parent = state.session?.leaf ?? null) {
  const isFirst = !state.session || state.session.problem;
  if (isFirst) set({ session: { id: null, title: question, exchanges: new Map(), leaf: null, shown: null } });
  const { session } = state;
  const exchange = newExchange({ id: NEW, parent_id: parent, question });
  exchange.isHeard = true;
  session.exchanges.set(NEW, exchange);
  Object.assign(session, { leaf: NEW, shown: NEW, goTo: NEW, editing: null });
  set({ session, citation: null, stage: "tree", tab: "answer" });
  // A short first answer may be there before one knows the name of the conversation.
  await session.naming;
  const body = { question };
  if (session.id) body.session_id = session.id;
  if (session.id) body.context_id = parent ?? BEFORE_FIRST;
  let isNamed = false;
  // With many questions at once, this one waits in a line before its run begins.
  let waitsAs = null;
  const take = taking(session, exchange);
  try {
    await follow("/api/oracle/stream", {
      body,
      ends: ["done"],
      again: () => `/api/runs/${exchange.runId ?? waitsAs}/stream`,
      onState: hearConnection,
      on(type, data, id) {
        if (type === "queued") waitsAs = data.run_id;
        if (!isNamed && id) {
          isNamed = true;
          session.naming = name(session, exchange, id.slice(0, id.lastIndexOf(":"))).catch(() => {});
        }
        take(type, data);
      },
    });
    listSessions();
  } catch (problem) {
    fail(exchange, problem);
  }
}

/** The run has begun: it has an id now, and so has the exchange. */
async function name(session, exchange, runId) {
  session.exchanges.delete(exchange.id);
  rename(session, exchange, runId);
  exchange.runId = runId;
  session.exchanges.set(runId, exchange);
  touch("session");
  if (!session.id) {
    const runs = await get("/api/runs?limit=50");
    session.id = runs.find((one) => one.id === runId)?.session_id ?? null;
    listSessions();
  }
  if (state.session !== session || !session.id) return;
  // From the empty page Back leads to the empty page. Another question of a conversation is no new place.
  const show = state.route.name === "ask" && !state.route.session ? go : replace;
  show(`/s/${session.id}#${exchange.id}`);
}

function rename(session, exchange, id) {
  for (const key of ["leaf", "shown", "goTo"]) if (session[key] === exchange.id) session[key] = id;
  exchange.id = id;
}

function taking(session, exchange) {
  return (type, data) => {
    takeChunk(exchange, data);
    if (type === "done" && data.context_id && data.context_id !== exchange.id && session.exchanges.get(exchange.id) === exchange) {
      session.exchanges.delete(exchange.id);
      rename(session, exchange, data.context_id);
      session.exchanges.set(exchange.id, exchange);
    }
    if (state.session === session) touch("session");
  };
}

function fail(exchange, problem) {
  exchange.isLive = false;
  exchange.isOrphan = problem.status === 404; // what it was to follow has been deleted
  exchange.problem = problem.message || "The server does not answer.";
  touch("session");
}

/** The exchange that is being answered now, if it is on the branch that is shown. */
export function liveExchange() {
  const { session } = state;
  return session && branchTo(session.exchanges, session.leaf).find((one) => one.isLive && !one.problem);
}

export async function stop() {
  const live = liveExchange();
  if (!live || live.id === NEW) return;
  live.isStopping = true;
  touch("session");
  // It may have ended by itself in the meantime.
  await post(`/api/runs/${live.runId}/cancel`).catch(() => {});
}

/** Open a citation by its number: its lines come up beside the answer. */
export function openCitationOf(exchange, number) {
  const citation = exchange.citations?.find((one) => one.number === number);
  if (!citation) return;
  if (citation.kind === "url" || (citation.url && !citation.path)) {
    window.open(citation.url, "_blank", "noopener");
    return;
  }
  if (state.session) state.session.shown = exchange.id;
  set({ citation: number, stage: "sources", isMindHidden: false, tab: "mind" });
  if (state.route.name === "ask") history.replaceState(null, "", `#${exchange.id}:${number}`);
}

export const retry = (exchange) => ask(exchange.question, exchange.parentId);

/** Ask it as the first question of a new conversation. */
export function askAnew({ question }) {
  newQuestion();
  ask(question, null);
}

/** Put a question back into the field; asked again, it becomes another branch. */
export function beginEdit(exchange) {
  state.session.editing = exchange;
  touch("session", "editing");
}

export function endEdit() {
  if (state.session) state.session.editing = null;
  touch("session", "editing");
}

export function newQuestion() {
  set({ session: null });
  go("/");
}
