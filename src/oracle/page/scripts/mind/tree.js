// The tree on the stage: drawn once a frame, and only where it has changed.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { set, state, touch, useStore } from "../store.js";
import { Box, boxKey } from "./box.js";
import { fitted } from "./fit.js";
import * as looking from "./looking.js";
import { faces, forgetWidths, measure } from "./measure.js";
import { Minimap } from "./minimap.js";
import { TreeAtRest } from "./rest.js";
import { useShown } from "./shown.js";
import { treeKey } from "./treekeys.js";
import { grouped, redraw, wholeDrawn, wholeOf, wholePlace } from "./whole.js";
import { crumbWords } from "./words.js";

const MARGIN = 20;
const LEGEND = 40;
const TINY = 0.5; // below this zoom nodes are their marks alone
const BEYOND = 120; // what is drawn outside the stage, so that panning shows no edge

export function TreeStage({ children }) {
  const { run, node, playhead, page } = useStore("run", "node", "looking", "playhead", "page");
  const view = useShown();
  // Motion shows that something happens by itself: while live or playing, but never on first paint or by hand.
  const drawnFor = useRef(null);
  const isStill = drawnFor.current !== run?.id || !(view?.isLive || playhead.isPlaying);
  useEffect(() => { drawnFor.current = run?.id; });
  const [ref, size] = useSize();
  useFaces();
  const cache = useRef(new Map());
  const before = useRef({ kept: null, line: null, ways: new Map(), whole: {} });
  const [cursor, setCursor] = useState(null);
  const ready = run?.tree && size.width > 0;
  const { stops } = looking.lookingAt(run);
  const drawing = ready ? drawingOf(run, view, size, before.current) : null;
  const place = drawing ? placeOf(drawing, size, before.current) : null;
  const visible = drawing ? visibleOf(drawing, place, size) : [];
  useEffect(() => { if (drawing?.isUnfinished) touch("looking"); });
  const stop = tabStop(visible, cursor, node);
  const onKeyDown = (event) => drawing && treeKey(event, { boxes: drawing.boxes, cursor: stop, setCursor: focusOn(ref, setCursor) });
  usePointer(ref, place);
  // The legend gives way to a drawing that needs its place.
  const isFull = drawing && drawing.detail !== "all" && place.y + drawing.bottom > size.height - LEGEND;
  return html`<div class=${`stage${isFull ? " is-full" : ""}`} ref=${ref}>
    ${drawing && html`${crumbs(drawing, view, run)}
      <svg class=${`tree${view.isLive ? " live" : ""}${isStill || drawing.detail === "all" ? " still" : ""}${isTiny(drawing, place) ? " tiny" : ""}`} role="tree" tabindex="-1"
        aria-label=${`Behavior tree${view.turn ? `, turn ${view.turn}` : ""}`} onKeyDown=${onKeyDown} onClick=${(event) => choose(event, drawing, setCursor)}>
        <g class="world" role="none" style=${{ transform: `translate(${place.x}px,${place.y}px) scale(${place.zoom})` }}>
          <g role="none" aria-hidden="true">${drawing.detail === "all" ? wholeEdges(cache.current, drawing) : drawing.edges.map((edge) => keptEdge(cache.current, edge))}</g>
          ${boxes(cache.current, drawing, visible, { drawing, stop, node, stops, view, run })}
        </g>
      </svg>
      <${Minimap} run=${run} view=${view} drawing=${drawing} place=${place} size=${size} />`}
    ${!run?.tree && page?.tree ? html`<div class="resting"><${TreeAtRest} outline=${page.tree.outline} /></div>` : null}
    ${children}
  </div>`;
}

// The columns and the way of shortening are kept while the line stays the same, so that little moves.
function drawingOf(run, view, size, before) {
  const { opened, closed } = state.looking;
  const detail = looking.detailFor(run, size.width);
  if (detail === "all") return wholeOf(run, view, { closed, key: [state.looking.chosenAt, faces(), ...closed].join("|"), measure, before: before.whole });
  const key = [run.id, detail, size.width, size.height, view.focus?.path, opened.size, closed.size].join("|");
  const line = view.focus?.path.split("/").slice(0, 4).join("/");
  const drawing = fitted(run.tree, view, {
    detail, width: size.width - MARGIN - 8, height: size.height - 60, measure, opened, closed,
    first: before.ways.get(key) ?? 0, kept: line === before.line ? before.kept : null,
  });
  before.ways.set(key, drawing.way);
  Object.assign(before, { kept: drawing.columns, line });
  for (const one of drawing.boxes) one.box.step = one.box.unit ? view.statuses.get(one.box.unit.outer.path)?.step : undefined;
  drawing.detail = detail;
  return drawing;
}

function placeOf(drawing, size, before) {
  const { zoom, pan } = state.looking;
  if (pan) return { ...pan, zoom: drawing.detail === "all" ? zoom : 1 };
  if (drawing.detail === "all") return wholePlace(drawing, size, zoom, before.whole);
  const focus = drawing.boxes.find((one) => one.box.isFocus) ?? drawing.boxes[0];
  const top = drawing.crumbs.length || state.run?.tree?.is_current === false ? 44 : MARGIN;
  const height = drawing.bottom - drawing.top;
  const room = size.height - top - 48;
  const isWide = drawing.width > size.width - MARGIN - 8;
  const x = isWide ? Math.min(MARGIN, size.width - MARGIN - (focus.x + focus.width)) : MARGIN;
  const y = height <= room ? top - drawing.top + Math.max(0, (room - height) * 0.4) : Math.min(top - drawing.top, top + room * 0.7 - focus.y);
  return { x: Math.round(x) + 0.5, y: Math.round(y) + 0.5, zoom: 1 }; // thin lines are sharp on half pixels
}

const isTiny = (drawing, place) => drawing.detail === "all" && place.zoom < TINY;

function isVisible(one, place, size) {
  const x = place.x + one.x * place.zoom;
  const y = place.y + one.y * place.zoom;
  return x > -one.width * place.zoom - BEYOND && x < size.width + BEYOND && y > -BEYOND && y < size.height + BEYOND;
}

function visibleOf(drawing, place, size) {
  const isIn = (one) => isVisible(one, place, size);
  if (drawing.detail !== "all") return drawing.boxes.filter(isIn);
  redraw(drawing, isTiny(drawing, place));
  return wholeDrawn(drawing, isIn);
}

function boxes(cache, drawing, visible, its) {
  const draw = (one) => kept(cache, one, boxState(one, its));
  if (drawing.detail !== "all") return visible.map(draw);
  return grouped(drawing, markedBoxes(drawing, its), draw, (at, parts) => html`<${Group} key=${`${drawing.number}.${at}`}>${parts}<//>`);
}

const Group = ({ children }) => html`<g role="none">${children}</g>`;

// What is chosen, has a stop, or has the focus.
function markedBoxes(drawing, { stop, node, stops }) {
  const marked = { tab: drawing.boxes.find((one) => one.box.id === stop), node: node && drawing.byPath.get(node) };
  for (const path of stops) marked[`stop ${path}`] = drawing.byPath.get(path);
  return marked;
}

// A component that is the same object is skipped by the renderer: this is how only changed nodes are touched.
function kept(cache, one, its) {
  const key = its.detail === "all" ? `${its.number}|${one.look}|${its.isPicked}${its.isStop}${its.isTabStop}|${its.aside}` : boxKey(one, its);
  const found = cache.get(one.box.id);
  if (found?.key === key) return found.vnode;
  const vnode = html`<${Box} key=${one.box.id} one=${one} its=${its} />`;
  cache.set(one.box.id, { key, vnode });
  return vnode;
}

const Edge = ({ edge }) => html`<path class=${`edge${edge.isLit ? " lit" : ""}`} d=${edge.d} />`;

function keptEdge(cache, edge) {
  const key = `${edge.isLit}${edge.d}`;
  const found = cache.get(edge.id);
  if (found?.key === key) return found.vnode;
  const vnode = html`<${Edge} key=${edge.id} edge=${edge} />`;
  cache.set(edge.id, { key, vnode });
  return vnode;
}

// Of the whole tree all edges are one path, which is never touched, and the line is a second one above it.
function wholeEdges(cache, drawing) {
  const all = keptEdge(cache, { id: "all edges", isLit: false, d: drawing.allEdges });
  return [all, keptEdge(cache, { id: "lit edges", isLit: true, d: drawing.litEdges })];
}

function boxState(one, { drawing, stop, node, stops, view, run }) {
  const { box } = one;
  const siblings = one.parent ? one.parent.children : [box];
  one.among ??= siblings.indexOf(box) + 1;
  return {
    isPicked: Boolean(node) && covers(box, node), isStop: stops.size > 0 && [...stops].some((path) => covers(box, path)), isTabStop: box.id === stop,
    size: siblings.length, place: one.among, differs: null,
    aside: box.isFocus && box.status === "running" && view.isLive ? asideOf(view, drawing, one) : null,
    detail: drawing.detail, number: drawing.number, isTiny: drawing.isTiny,
  };
}

function covers(box, path) {
  return !box.isGroup && (box.units ?? [box.unit]).some((unit) => unit.members.some((member) => member.path === path));
}

/** Where there is room for words about the text that is being written: below its box, else above, else nowhere. */
function asideOf(view, drawing, one) {
  const model = view.models.at(-1);
  if (!model || model.end || drawing.detail === "all") return null;
  const isFree = (y) => !drawing.boxes.some((other) => other !== one && Math.abs(other.y - y) < 20 && other.x < one.x + 130 && other.x + other.width > one.x);
  if (isFree(one.y + 26)) return "below";
  return isFree(one.y - 26) ? "above" : null;
}

function tabStop(visible, cursor, node) {
  const has = (id) => id && visible.some((one) => one.box.id === id);
  if (has(cursor)) return cursor;
  if (has(node)) return node;
  return (visible.find((one) => one.box.isFocus) ?? visible[0])?.box.id ?? null;
}

function focusOn(ref, setCursor) {
  return (id) => {
    setCursor(id);
    requestAnimationFrame(() => ref.current?.querySelector(`[data-id="${CSS.escape(id)}"]`)?.focus());
  };
}

function choose(event, drawing, setCursor) {
  const id = event.target.closest("[data-id]")?.dataset.id;
  const one = id && drawing.boxes.find((each) => each.box.id === id);
  if (!one) return;
  setCursor(id);
  if (one.box.isGroup || event.target.closest("[data-open]")) { looking.open(one.box); return; }
  set({ node: state.node === one.box.unit.inner.path ? null : one.box.unit.inner.path });
}

function crumbs(drawing, view, run) {
  const isOld = run.tree.is_current === false;
  if (!drawing.crumbs.length && !isOld) return null;
  const old = isOld ? html` <a class="link" href=${`/trees/${run.tree.name}?run=${run.id}`}>recorded with another tree</a>` : null;
  return html`<p class="crumbs">${crumbWords(drawing.crumbs, view.turn)}${old}</p>`;
}

function useSize() {
  const ref = useRef(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const watcher = new ResizeObserver(([entry]) => {
      const { width, height } = entry.contentRect;
      setSize({ width: Math.round(width), height: Math.round(height) });
    });
    watcher.observe(ref.current);
    return () => watcher.disconnect();
  }, []);
  return [ref, size];
}

function useFaces() {
  const [, again] = useState(0);
  useEffect(() => {
    let isOver = false;
    document.fonts.ready.then(() => { if (!isOver) { forgetWidths(); again(1); } });
    return () => { isOver = true; };
  }, []);
}

// Drag to pan, wheel to pan, wheel with control (or a pinch) to zoom in All.
function usePointer(ref, place) {
  const now = useRef(place);
  now.current = place;
  useEffect(() => {
    const stage = ref.current;
    let from = null;
    const down = (event) => {
      if (event.button !== 0 || !event.target.closest("svg.tree") || event.target.closest("[data-id]") || !now.current) return;
      from = { x: event.clientX - now.current.x, y: event.clientY - now.current.y };
      stage.setPointerCapture(event.pointerId);
    };
    const move = (event) => { if (from) looking.pan({ x: event.clientX - from.x, y: event.clientY - from.y }); };
    const up = () => { from = null; };
    const wheel = (event) => {
      if (!event.target.closest("svg.tree") || !now.current) return;
      const isAll = looking.detailFor(state.run, stage.clientWidth) === "all";
      if (!isAll && !event.shiftKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
      event.preventDefault();
      const { x, y } = now.current;
      if (!state.looking.pan) state.looking.pan = { x, y };
      const box = stage.getBoundingClientRect();
      if (isAll && (event.ctrlKey || event.metaKey)) looking.zoomTo(state.looking.zoom * Math.exp(-event.deltaY / 300), { x: event.clientX - box.left, y: event.clientY - box.top });
      else looking.pan({ x: x - event.deltaX, y: y - event.deltaY });
    };
    stage.addEventListener("pointerdown", down);
    stage.addEventListener("pointermove", move);
    stage.addEventListener("pointerup", up);
    stage.addEventListener("pointercancel", up);
    stage.addEventListener("wheel", wheel, { passive: false });
    return () => {
      stage.removeEventListener("pointerdown", down);
      stage.removeEventListener("pointermove", move);
      stage.removeEventListener("pointerup", up);
      stage.removeEventListener("pointercancel", up);
      stage.removeEventListener("wheel", wheel);
    };
  }, []);
}
