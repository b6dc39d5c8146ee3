// The playhead: a number of steps, or null for the end. A live run is the playhead at its end.
import { set, state } from "../store.js";

const LEAST = 0.016; // seconds for a step; the tree makes a hundred of them in no time
const MOST = 0.9; // and the longest wait that is played

export const SPEEDS = [0.25, 1, 4];

/** When each step is played, in seconds from the first. Pure. */
export function schedule(steps) {
  const times = new Float64Array(steps.length + 1);
  for (let i = 1; i <= steps.length; i += 1) {
    const gap = i > 1 ? steps[i - 1].at - steps[i - 2].at : LEAST;
    times[i] = times[i - 1] + Math.min(MOST, Math.max(LEAST, gap));
  }
  return times;
}

/** How many steps have been played after `seconds`, beginning at step `from`. Pure. */
export function playedAfter(times, from, seconds) {
  const until = times[from] + seconds;
  let step = from;
  while (step < times.length - 1 && times[step + 1] <= until) step += 1;
  return step;
}

/** "turn 3, step 182 of 209". Pure. */
export function placeWords(run, view) {
  if (!run || !view) return "";
  const where = view.isEnd && run.end ? "end" : view.turn ? `turn ${view.turn}` : "start";
  return view.isEnd && run.isLive ? `${where}, step ${view.steps}` : `${where}, step ${view.step} of ${view.steps}`;
}

const move = (values) => set({ playhead: { ...state.playhead, ...values } });
const countOf = () => state.run?.steps.length ?? 0;
const stepNow = () => state.playhead.step ?? countOf();

export function goTo(step) {
  const count = countOf();
  const isEnd = step >= count && !state.run?.isLive;
  move({ step: isEnd ? null : Math.max(0, Math.min(step, count)), isPlaying: false });
}

export const toStart = () => goTo(0);
export const toEnd = () => move({ step: null, isPlaying: false });
export const stepOn = (by = 1) => goTo(stepNow() + by);
export const setSpeed = (speed) => move({ speed });

export function nextTurn(by) {
  const ends = [0, ...(state.run?.turns.map((turn) => turn.end?.step).filter((step) => step != null) ?? [])];
  if (state.run?.end) ends.pop(); // the last turn ends with the run
  const now = stepNow();
  const to = by > 0 ? ends.find((step) => step > now) : ends.findLast((step) => step < now) ?? 0;
  if (to === undefined) toEnd(); else goTo(to);
}

let frame = 0;

export function play() {
  const { run } = state;
  if (!run) return;
  const isAtEnd = state.playhead.step == null || state.playhead.step >= countOf();
  if (isAtEnd && run.isLive) return;
  const from = isAtEnd ? 0 : state.playhead.step;
  const times = schedule(run.steps);
  let began = null;
  move({ step: from, isPlaying: true });
  const tick = (now) => {
    began ??= now;
    if (!state.playhead.isPlaying || state.run !== run) return;
    const step = playedAfter(times, from, ((now - began) / 1000) * state.playhead.speed);
    if (step >= times.length - 1) { move({ step: null, isPlaying: false }); return; }
    if (step !== state.playhead.step) move({ step });
    frame = requestAnimationFrame(tick);
  };
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(tick);
}

/** In a live run this stops the playhead, not the run. */
export function pause() {
  cancelAnimationFrame(frame);
  move({ step: stepNow(), isPlaying: false });
}

export const isRunning = () => state.playhead.isPlaying || (state.playhead.step == null && Boolean(state.run?.isLive));
export const playOrPause = () => (isRunning() ? pause() : play());
