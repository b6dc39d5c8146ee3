// The moment that all panes show, made once for all of them.
import { state, useStore } from "../store.js";
import { viewAt } from "./reduce.js";

let cached = { run: null, version: -1, step: -1, view: null };

/** The view of `state.run` at the playhead; null without a run. */
export function shown() {
  const { run } = state;
  if (!run) return null;
  const step = state.playhead.step;
  if (cached.run !== run || cached.version !== run.version || cached.step !== step) {
    cached = { run, version: run.version, step, view: viewAt(run, step) };
  }
  return cached.view;
}

/** `key` is "run", or "panels" for what is drawn after the tree. */
export function useShown(key = "run") {
  useStore(key, "playhead");
  return shown();
}
