// One state for the whole page. Panes read it; a change names its key.
// Subscribers hear of all changes of a frame together, so a burst of events is drawn once.
import { useEffect, useReducer } from "./html.js";

export const state = {
  route: { name: "ask", path: "/", session: null, exchange: null, run: null, a: null, b: null, query: new URLSearchParams() },
  /** What GET /api/page says; null until it has answered. */
  page: null,
  /** up, lost (trying again), gone (nobody answers; also tried again) or interrupted (nobody works on the run yet). */
  connection: "up",
  /** The conversation that is shown: {id, title, exchanges: Map id→exchange, leaf}; null for a new one. */
  session: null,
  /** Sessions of the panel. */
  sessions: null,
  panel: null,
  /** The run that the mind shows; see mind/reduce.js. What listens to "panels" hears of it one frame later. */
  run: null,
  /** step: how many changes of a status are shown; null is the end, which moves on while live. */
  playhead: { step: null, isPlaying: false, speed: 1 },
  /** tree or sources. */
  stage: "tree",
  /** The number of the citation that is open, and what the place is if it is not a citation. */
  citation: null,
  /** The path of the chosen node. */
  node: null,
  isMindHidden: false,
  /** On narrow screens: answer, mind or runs. */
  tab: "answer",
  /** What a key asked the mind for: {name, at}; the mind answers to a new one. */
  command: null,
  dialog: null,
};

const listeners = new Map();
let changed = new Set();
let isWaiting = false;
let isHeldBack = false;

/** Tell that `keys` of the state have changed. With a hidden page no frame comes, hence the timer. */
export function touch(...keys) {
  for (const key of keys) changed.add(key);
  if (isWaiting) return;
  isWaiting = true;
  if (document.visibilityState === "hidden") setTimeout(deliver, 100);
  else requestAnimationFrame(deliver);
}

/** Set keys of the state, and tell it. */
export function set(values) {
  Object.assign(state, values);
  touch(...Object.keys(values));
}

/** Call `listener` after a frame in which one of `keys` has changed. Returns how to end that. */
export function subscribe(keys, listener) {
  for (const key of keys) {
    if (!listeners.has(key)) listeners.set(key, new Set());
    listeners.get(key).add(listener);
  }
  return () => keys.forEach((key) => listeners.get(key).delete(listener));
}

/** Draw the component again when one of `keys` changes. */
export function useStore(...keys) {
  const [, again] = useReducer((count) => count + 1, 0);
  useEffect(() => subscribe(keys, again), [keys.join()]);
  return state;
}

function deliver() {
  isWaiting = false;
  const keys = changed;
  changed = new Set();
  // Chat and mind are drawn in two frames, if both have changed: neither has to wait for all of the other.
  isHeldBack = !isHeldBack && keys.has("session") && keys.delete("run");
  if (isHeldBack) touch("run");
  // Of the mind the tree is first, and what is below it follows: a new run is too much for one frame.
  if (keys.has("run")) touch("panels");
  const due = new Set();
  for (const key of keys) for (const listener of listeners.get(key) ?? []) due.add(listener);
  for (const listener of due) listener(keys);
}
