// Where the line lies among all nodes. In detail All it is also the viewport.
import { html } from "../html.js";
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
    texture = { d, place };
    TEXTURES.set(tree, texture);
  }
  return texture;
}

// It has a corner of its own, or it is not there: it never covers a node.
function hasRoom(drawing, place, size) {
  const top = size.height - 40 - HEIGHT - 34;
  const isIn = (one) => place.x + one.x * place.zoom < 30 + WIDTH && place.y + (one.y + 11) * place.zoom > top;
  return size.height > 260 && !drawing.boxes.some(isIn);
}

export function Minimap({ run, view, drawing, place, size }) {
  if (drawing.detail !== "all" && !hasRoom(drawing, place, size)) return null;
  const { d, place: placeOf } = textureOf(run.tree);
  const drawn = drawing.boxes.length;
  return html`<div class="minimap" aria-hidden="true">
    <svg width=${WIDTH} height=${HEIGHT + 4} viewBox=${`0 -2 ${WIDTH} ${HEIGHT + 4}`}>
      <path class="mini" d=${d} />
      ${view.focus ? html`<path class=${`minilit${view.isLive ? "" : " ink"}`} d=${lineTo(run.tree, view.focus, placeOf)} />` : null}
      ${drawing.detail === "all" ? viewport(drawing, place, size) : null}
    </svg>
    <p>${run.tree.nodes.length.toLocaleString("en")} nodes, ${drawn.toLocaleString("en")} drawn</p>
  </div>`;
}

function lineTo(tree, focus, placeOf) {
  const points = [...ancestorsOf(tree, focus), focus].map(placeOf);
  return points.map(({ x, y }, at) => (at === 0 ? `M${x.toFixed(1)} ${y.toFixed(1)}` : `V${y.toFixed(1)}H${(x + DASH).toFixed(1)}`)).join("");
}

function viewport(drawing, place, size) {
  const height = drawing.bottom - drawing.top || 1;
  const scale = (value, whole, mini) => Math.max(0, Math.min(mini, (value / whole) * mini));
  const left = scale(-place.x / place.zoom, drawing.width, WIDTH);
  const top = scale(-place.y / place.zoom - drawing.top, height, HEIGHT);
  const right = scale((size.width - place.x) / place.zoom, drawing.width, WIDTH);
  const bottom = scale((size.height - place.y) / place.zoom - drawing.top, height, HEIGHT);
  return html`<rect class="viewport" x=${left} y=${top} width=${Math.max(4, right - left)} height=${Math.max(4, bottom - top)} rx="1.5" />`;
}
