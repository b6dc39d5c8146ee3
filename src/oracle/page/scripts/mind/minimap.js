// Where the line lies among all nodes. In detail All it is a map of the drawing: its viewport can be dragged.
import { count } from "../format.js";
import { html } from "../html.js";
import * as looking from "./looking.js";
import { ancestorsOf } from "./reduce.js";

const WIDTH = 132;
const HEIGHT = 74;
const DASH = 5;

const TEXTURES = new WeakMap();

// A dash for each node: its depth across, its place in the order down. One path for all of them.
function textureOf(tree) {
  let texture = TEXTURES.get(tree);
  if (!texture) {
    const depth = Math.max(...tree.nodes.map((node) => node.depth));
    const across = (WIDTH - DASH) / Math.max(1, depth);
    const down = HEIGHT / tree.nodes.length;
    const place = (node) => ({ x: node.depth * across, y: node.index * down });
    // Neighbours of one depth would be a solid bar: at most one dash for each two pixels.
    const taken = new Set();
    let d = "";
    for (const node of tree.nodes) {
      const { x, y } = place(node);
      const cell = `${node.depth}:${Math.round(y / 2.4)}`;
      if (taken.has(cell)) continue;
      taken.add(cell);
      d += `M${x.toFixed(1)} ${(Math.round(y / 2.4) * 2.4).toFixed(1)}h${DASH}`;
    }
    texture = { d, lineTo: (focus) => lineTo(tree, focus, place) };
    TEXTURES.set(tree, texture);
  }
  return texture;
}

function lineTo(tree, focus, placeOf) {
  const points = [...ancestorsOf(tree, focus), focus].map(placeOf);
  return points.map(({ x, y }, at) => (at === 0 ? `M${x.toFixed(1)} ${y.toFixed(1)}` : `V${y.toFixed(1)}H${(x + DASH).toFixed(1)}`)).join("");
}

// It has a corner of its own, or it is not there: it never covers a node.
function hasRoom(drawing, place, size) {
  const top = size.height - 40 - HEIGHT - 34;
  const isIn = (one) => place.x + one.x * place.zoom < 30 + WIDTH && place.y + (one.y + 11) * place.zoom > top;
  return size.height > 260 && !drawing.boxes.some(isIn);
}

export function Minimap({ run, view, drawing, place, size }) {
  const isMap = drawing.detail === "all";
  if (!isMap && !hasRoom(drawing, place, size)) return null;
  const { d, lineTo } = isMap ? mapOf(drawing) : textureOf(run.tree);
  const drag = isMap ? (event) => { if (event.buttons === 1) goTo(event, drawing, place, size); } : null;
  const begin = (event) => { event.currentTarget.setPointerCapture(event.pointerId); drag(event); };
  return html`<div class=${`minimap${isMap ? " is-map" : ""}`} aria-hidden="true">
    <svg width=${WIDTH} height=${HEIGHT + 4} viewBox=${`0 -2 ${WIDTH} ${HEIGHT + 4}`} onPointerDown=${isMap ? begin : null} onPointerMove=${drag}>
      <rect class="catch" y="-2" width=${WIDTH} height=${HEIGHT + 4} fill="none" pointer-events="all" />
      <path class="mini" d=${d} />
      ${view.focus ? html`<path class=${`minilit${view.isLive ? "" : " ink"}`} d=${lineTo(view.focus)} />` : null}
      ${isMap ? viewport(drawing, place, size) : null}
    </svg>
    <p>${count(run.tree.nodes.length)} nodes, ${count(drawing.boxes.length)} drawn</p>
  </div>`;
}

// The boxes of the whole tree at their own places, so that what is under the pointer is what one goes to.
function mapOf(drawing) {
  if (!drawing.map) {
    const place = ({ x, y }) => `${(x * acrossOf(drawing)).toFixed(1)} ${((y - drawing.top) * downOf(drawing)).toFixed(1)}`;
    const taken = new Set();
    const d = drawing.boxes.map(place).filter((one) => !taken.has(one) && taken.add(one)).map((one) => `M${one}h3`).join("");
    const lineTo = () => drawing.boxes.filter((one) => one.box.isLit).map((one, at) => `${at ? "L" : "M"}${place(one)}h3`).join("");
    drawing.map = { d, lineTo };
  }
  return drawing.map;
}

const acrossOf = (drawing) => WIDTH / (drawing.width || 1);
const downOf = (drawing) => HEIGHT / (drawing.bottom - drawing.top || 1);

/** What is under the pointer comes to the middle of the stage. */
function goTo(event, drawing, place, size) {
  const box = event.currentTarget.getBoundingClientRect();
  const x = (event.clientX - box.left) / acrossOf(drawing);
  const y = (event.clientY - box.top - 2) / downOf(drawing) + drawing.top;
  looking.pan({ x: size.width / 2 - x * place.zoom, y: size.height / 2 - y * place.zoom });
}

function viewport(drawing, place, size) {
  const within = (value, most) => Math.max(0, Math.min(most, value));
  const left = within((-place.x / place.zoom) * acrossOf(drawing), WIDTH);
  const top = within((-place.y / place.zoom - drawing.top) * downOf(drawing), HEIGHT);
  const right = within(((size.width - place.x) / place.zoom) * acrossOf(drawing), WIDTH);
  const bottom = within(((size.height - place.y) / place.zoom - drawing.top) * downOf(drawing), HEIGHT);
  return html`<rect class="viewport" x=${left} y=${top} width=${Math.max(4, right - left)} height=${Math.max(4, bottom - top)} rx="1.5" />`;
}
