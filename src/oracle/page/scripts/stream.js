// Server-sent events over fetch: `EventSource` cannot post a question, and it cannot send a token.
// The stream comes back by itself after a break, and goes on after the last event it has seen.
import { ANSWERED, errorOf, withToken } from "./api.js";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 8000;
/** After so many attempts that reached nobody, the server is gone rather than the line lost. */
const MOST_MISSES = 3;
/** A run that was interrupted is taken up again when its lease is over; then it is heard soon. */
const INTERRUPTED_WAIT = 2000;

/**
 * Follow `path`; `on(event, data, id)` hears each event, `onState` hears "up", "lost", "gone" (nobody answers at
 * this address) and "interrupted" (the server answers, but nobody works on the run yet).
 * With "up" it also hears whether there was news, or only an answer.
 * `ends` are the events after which nothing follows. A promise for the last one is returned.
 * With a `body` the first request posts it; later ones only go on, at `again(id)`.
 */
export async function follow(path, { on, onState = () => {}, ends, body, again = () => path, signal, after }) {
  let last = after ?? null;
  let wait = FIRST_WAIT;
  let isFirst = true;
  let misses = 0;
  let orderly = 0; // ends without news, one after the other
  let told = null;
  const tell = (connection, hasNews = false) => {
    told = connection;
    onState(connection, hasNews);
  };
  while (!signal?.aborted) {
    let isInterrupted = false;
    let isOrderly = false;
    try {
      const isAsking = isFirst && body !== undefined;
      const response = await fetch(isAsking ? path : again(last), {
        method: isAsking ? "POST" : "GET",
        headers: withToken({
          Accept: "text/event-stream",
          ...(isAsking && { "Content-Type": "application/json" }),
          ...(last !== null && { "Last-Event-ID": last }),
        }),
        body: isAsking ? JSON.stringify(body) : undefined,
        signal,
        cache: "no-store",
      });
      // Waiting helps against a server that restarts, not against a request that is wrong.
      if (!response.ok && (response.status < 500 || isAsking)) throw Object.assign(await errorOf(response), { isFinal: true });
      if (!response.ok) throw new Error(`the server answered ${response.status}`);
      isFirst = false;
      misses = 0;
      wait = FIRST_WAIT;
      if (told !== "interrupted") tell("up");
      for await (const event of events(response.body)) {
        if (event.id) last = event.id;
        if (event.type === "interrupted") {
          isInterrupted = true;
          break;
        }
        if (event.id) orderly = 0;
        if (event.id || told !== "interrupted") tell("up", Boolean(event.id)); // a request that failed meanwhile may have said otherwise
        on(event.type, event.data, event.id);
        if (ends.includes(event.type)) return event.data;
      }
      // A proxy may end a stream. If the next one has nothing new either, nobody works on the run.
      orderly += 1;
      isOrderly = true;
      isInterrupted ||= orderly > 1;
    } catch (problem) {
      if (signal?.aborted || problem.name === "AbortError") return null;
      // A question that may not have arrived is not asked twice.
      if (problem.isFinal || (isFirst && body !== undefined)) throw problem;
      if (problem instanceof TypeError) misses += 1;
    }
    if (isInterrupted) tell("interrupted");
    else if (!isOrderly) tell(misses > MOST_MISSES && navigator.onLine ? "gone" : "lost");
    await pause(isInterrupted ? INTERRUPTED_WAIT : wait, signal);
    if (!isInterrupted) wait = Math.min(wait * 2, LONGEST_WAIT);
  }
  return null;
}

/** The events of a body, each with its type, its data and its id. */
export async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    while (true) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += value;
      const blocks = rest.split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) {
        const event = parsed(block);
        if (event) yield event;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function parsed(block) {
  const event = { type: "message", data: null, id: null };
  for (const line of block.split("\n")) {
    if (line.startsWith("data: ")) event.data = JSON.parse(line.slice(6));
    else if (line.startsWith("event: ")) event.type = line.slice(7);
    else if (line.startsWith("id: ")) event.id = line.slice(4);
  }
  return event.data === null ? null : event;
}

/** Wait, but not after the network is back, or after another request was answered: then try at once. */
function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener("online", end);
      removeEventListener(ANSWERED, end);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    addEventListener("online", end);
    addEventListener(ANSWERED, end);
    signal?.addEventListener("abort", end);
  });
}
