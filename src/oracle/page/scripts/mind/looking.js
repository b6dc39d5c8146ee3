// How the reader looks at the tree: detail, zoom, and what was opened or closed by hand. Kept until another run.
import { set, state } from "../store.js";

export const LEAST_ZOOM = 0.25;
export const MOST_ZOOM = 2;
const STEP = 1.25;

Object.assign(state, { looking: fresh(null) });

function fresh(run) {
  return { run, detail: state.looking?.detail ?? null, zoom: 1, pan: null, opened: new Set(), closed: new Set(), stops: state.looking?.stops ?? new Set() };
}

const change = (values) => set({ looking: { ...state.looking, ...values } });

/** Another run begins with nothing opened. The chosen detail stays. */
export function lookingAt(run) {
  if (run && state.looking.run !== run.id) state.looking = { ...fresh(run.id), stops: new Set() };
  return state.looking;
}

/** Turn while live, Path for what has ended, unless the reader chose. Path, too, where Turn has no room. */
export function detailFor(run, width) {
  const { detail } = state.looking;
  if (detail) return detail;
  return run?.isLive && width >= 640 ? "turn" : "path";
}

const OVERVIEW = 0.4;

/** All begins as an overview: the marks of a few hundred nodes. */
export const setDetail = (detail) => change({ detail, pan: null, zoom: detail === "all" ? OVERVIEW : 1, chosenAt: (state.looking.chosenAt ?? 0) + 1 });
export const pan = (place) => change({ pan: place });
export const toFocus = () => change({ pan: null });

export function zoomTo(zoom, at = null) {
  const { zoom: before, pan: place } = state.looking;
  const next = Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, zoom));
  // What lies under the pointer stays there.
  const moved = place && at ? { x: at.x - ((at.x - place.x) * next) / before, y: at.y - ((at.y - place.y) * next) / before } : place;
  change({ zoom: next, pan: moved });
}

export const zoomIn = () => zoomTo(state.looking.zoom * STEP);
export const zoomOut = () => zoomTo(state.looking.zoom / STEP);

/** Open a box. The boxes of a group are shown one by one from then on, however the drawing is made to fit. */
export function open(box) {
  const { opened, closed } = state.looking;
  const ids = box.isGroup ? box.units.map((unit) => `=${unit.path}`) : [box.id];
  change({ opened: new Set([...opened, ...ids]), closed: without(closed, box.id) });
}

export function close(id) {
  const { opened, closed } = state.looking;
  change({ opened: without(opened, id), closed: new Set(closed).add(id) });
}

export function setStop(path, isSet) {
  const { stops } = state.looking;
  change({ stops: isSet ? new Set(stops).add(path) : without(stops, path) });
}

function without(set, id) {
  const left = new Set(set);
  left.delete(id);
  return left;
}
