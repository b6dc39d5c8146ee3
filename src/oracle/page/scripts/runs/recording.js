// A recorded run in the layout of a conversation: its exchange at the left, without a field.
import { html, useEffect } from "../html.js";
import { get, request } from "../api.js";
import { set, state } from "../store.js";
import { Chat } from "../chat/chat.js";
import { newExchange } from "../chat/exchange.js";

export function Recording({ id }) {
  useEffect(() => {
    load(id);
  }, [id]);
  const session = state.session;
  return html`<${Chat} foot=${session?.recording === id ? html`<${Foot} id=${id} session=${session} />` : null} isRecording />`;
}

/** A run is shown as a conversation of one exchange. Its real session is a link. */
async function load(id) {
  const session = { id: null, recording: id, title: "", exchanges: new Map(), leaf: null, shown: null, isOpening: true };
  set({ session });
  try {
    const run = (await get("/api/runs?limit=1000")).find((one) => one.id === id) ?? (await get(`/api/runs/${id}`)).run;
    if (state.session !== session) return;
    const exchange = newExchange({ id, run_id: id, question: run.question, created_at: run.started_at, answer: run.status === "done" ? "" : null, metadata: { stop_reason: run.stop_reason, usage: run.usage } });
    session.exchanges.set(id, exchange);
    Object.assign(session, { title: run.question, leaf: id, shown: id, isOpening: false, home: run.session_id });
  } catch (problem) {
    Object.assign(session, { isOpening: false, problem: problem.message, status: problem.status });
  }
  set({ session });
}

function Foot({ id, session }) {
  const save = async () => {
    const text = await (await request(`/api/runs/${id}/export`)).text();
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(new Blob([text], { type: "application/json" })), download: `run-${id.slice(0, 8)}.json` });
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return html`<p class="recording-head"><span>Recorded. Nothing is asked of a model.</span><span class="right">
    ${session.home && html`<a class="chip" href=${`/s/${session.home}#${id}`}>Conversation</a>`}
    <button type="button" class="chip" onClick=${save}>Export</button></span></p>`;
}
