// Which run the mind shows: its events are taken in as they come, and drawn once a frame.
import { hearConnection } from "./api.js";
import { follow } from "./stream.js";
import { set, state, touch } from "./store.js";
import { newRun, take } from "./mind/reduce.js";

let leaving = null;

/** Show this run in the mind; null for none. */
export function watchRun(id) {
  if ((state.run?.id ?? null) === id) return;
  leaving?.abort();
  if (state.connection === "interrupted") set({ connection: "up" }); // that was said of the run before
  leaving = null;
  set({ run: id ? newRun(id) : null, playhead: { step: null, isPlaying: false, speed: state.playhead.speed }, node: null, citation: null });
  if (!id) return;
  leaving = new AbortController();
  const { signal } = leaving;
  const run = state.run;
  follow(`/api/runs/${id}/mind`, {
    signal,
    ends: ["end"],
    onState: (connection, hasNews) => state.run === run && hearConnection(connection, hasNews),
    on(type, data) {
      take(run, type, data);
      if (state.run === run) touch(type === "text" ? "text" : "run");
    },
  }).catch((problem) => {
    Object.assign(run, { problem: problem.message, isLive: false });
    run.version += 1;
    if (state.run === run) touch("run");
  });
}
