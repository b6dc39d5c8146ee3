// Where the boxes are. Pure: from a tree of boxes to places and edges, by the rules of the design:
// a column for each depth, as wide as its widest box; the child on the line has its parent's row; its siblings go up
// and down from there in order, pushed apart by the outline of what is placed already.

export const ROW = 26;
export const HEIGHT = 22;
export const GAP = 30;
export const HEX = 30; // a decorator on the edge before its child
const HEX_GAP = 10;
const CURVE = 6;

export function boxWidth(box, measure) {
  if (box.isGlyph) return box.glyph ? 40 : 30;
  const text = measure(box.label, box.isLit);
  const count = box.isFolded && box.count > 0 ? measure(String(box.count), false) + 9 : 0;
  const glyph = box.glyph ? 17 : 0;
  const lead = box.shape === "tag" ? 6 : 0;
  return Math.ceil(8 + 12 + 6 + lead + glyph + text + count + (box.shape === "capsule" ? 12 : 10));
}

const hexesWidth = (box) => (box.isGlyph ? 0 : box.wrappers.length * (HEX + HEX_GAP));

// `kept` are the columns of the drawing before: they are not made narrower while the line moves within them.
export function layOut(root, { measure, rowHeight = ROW, kept = null } = {}) {
  const placed = placeRows(root);
  const boxes = [];
  collect(root, placed, 0, 0, null, boxes);
  const widths = columnWidths(boxes, measure, kept);
  const lefts = [];
  widths.reduce((left, width, column) => { lefts[column] = left; return left + width + GAP; }, 0);
  for (const one of boxes) {
    one.left = lefts[one.column];
    one.x = one.left + hexesWidth(one.box);
    one.y = one.row * rowHeight;
  }
  const byBox = new Map(boxes.map((one) => [one.box, one]));
  const edges = boxes.filter((one) => one.parent).map((one) => edgeTo(byBox.get(one.parent), one, lefts));
  edges.sort((a, b) => a.isLit - b.isLit); // the line lies on top
  const rows = boxes.map((one) => one.row);
  return {
    boxes, edges, columns: widths,
    width: lefts.at(-1) + widths.at(-1),
    top: Math.min(...rows) * rowHeight - HEIGHT / 2,
    bottom: Math.max(...rows) * rowHeight + HEIGHT / 2,
  };
}

// Rows relative to the box itself, with the outline of everything below it: for each column the least and the
// greatest row. Iterative, from the leaves up: a tree may be deep.
function placeRows(root) {
  const placed = new Map();
  const order = [root];
  for (let i = 0; i < order.length; i += 1) order.push(...order[i].children);
  for (let i = order.length - 1; i >= 0; i -= 1) placed.set(order[i], placeBox(order[i], placed));
  return placed;
}

function placeBox(box, placed) {
  const top = [0];
  const bottom = [0];
  const rows = new Map();
  if (box.children.length === 0) return { top, bottom, rows };
  const lit = box.children.findIndex((child) => child.isMain);
  const straight = Math.max(0, lit);
  merge(top, bottom, placed.get(box.children[straight]), 0);
  rows.set(box.children[straight], 0);
  for (let i = straight - 1; i >= 0; i -= 1) {
    const outline = placed.get(box.children[i]);
    let row = -1;
    for (let c = 0; c < outline.bottom.length; c += 1) {
      if (top[c + 1] !== undefined) row = Math.min(row, top[c + 1] - 1 - outline.bottom[c]);
    }
    rows.set(box.children[i], row);
    merge(top, bottom, outline, row);
  }
  for (let i = straight + 1; i < box.children.length; i += 1) {
    const outline = placed.get(box.children[i]);
    let row = 1;
    for (let c = 0; c < outline.top.length; c += 1) {
      if (bottom[c + 1] !== undefined) row = Math.max(row, bottom[c + 1] + 1 - outline.top[c]);
    }
    rows.set(box.children[i], row);
    merge(top, bottom, outline, row);
  }
  return { top, bottom, rows };
}

function merge(top, bottom, outline, row) {
  for (let c = 0; c < outline.top.length; c += 1) {
    top[c + 1] = Math.min(top[c + 1] ?? Infinity, outline.top[c] + row);
    bottom[c + 1] = Math.max(bottom[c + 1] ?? -Infinity, outline.bottom[c] + row);
  }
}

function collect(root, placed, row, column, parent, into) {
  const waiting = [{ box: root, row, column, parent }];
  while (waiting.length > 0) {
    const one = waiting.pop();
    into.push(one);
    const { rows } = placed.get(one.box);
    for (let i = one.box.children.length - 1; i >= 0; i -= 1) {
      const child = one.box.children[i];
      waiting.push({ box: child, row: one.row + rows.get(child), column: one.column + 1, parent: one.box });
    }
  }
}

function columnWidths(boxes, measure, kept) {
  const widths = [];
  for (const one of boxes) {
    one.width = boxWidth(one.box, measure);
    widths[one.column] = Math.max(widths[one.column] ?? 0, one.width + hexesWidth(one.box));
  }
  if (!kept) return widths;
  return widths.map((width, column) => (kept[column] > width && kept[column] - width <= 48 ? kept[column] : width));
}

// Edges leave to the right and turn once.
function edgeTo(from, to, lefts) {
  const start = from.x + from.width;
  const turn = lefts[to.column] - 16;
  const isLit = from.box.isLit && to.box.isLit;
  const id = `${from.box.id}>${to.box.id}`;
  if (from.y === to.y) return { id, isLit, d: `M${start} ${from.y}H${to.x}`, box: to.box };
  const side = to.y > from.y ? 1 : -1;
  const d = `M${start} ${from.y}H${turn - CURVE}Q${turn} ${from.y} ${turn} ${from.y + side * CURVE}`
    + `V${to.y - side * CURVE}Q${turn} ${to.y} ${turn + CURVE} ${to.y}H${to.x}`;
  return { id, isLit, d, box: to.box };
}
