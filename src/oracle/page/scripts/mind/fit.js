// How much of the line is drawn in full, so that it fits the stage. Pure.
//
// The line is made shorter by joining boxes, and by turning its first boxes into words above the drawing. The mildest
// way that fits is taken; if none does, the narrowest, and the stage scrolls to the focus.

import { layOut } from "./layout.js";
import { shapeOf } from "./shape.js";

// [joined boxes, boxes that become words]. Detail Path begins with the turn: what is above it is always the same.
const WAYS = {
  turn: [[0, 0], [1, 0], [2, 0], [3, 0], [4, 0], [3, 1], [4, 1], [5, 1], [6, 1], [7, 1], [6, 2], [7, 3]],
  path: [[0, 2], [1, 1], [2, 1], [3, 1], [4, 1], [5, 1], [6, 1], [4, 2], [6, 2], [7, 3]],
};

const FEWEST_ROWS = 6;

export function fitted(tree, view, { detail, width, height, measure, opened, closed, kept = null, first = 0, rowHeight = 26, extra = null }) {
  const drawIn = (room, [join, crumbs], way, longest) => {
    const shape = shapeOf(tree, view, { detail, opened, closed, room, join, crumbs, extra, longest });
    return { ...shape, ...layOut(shape.root, { measure, rowHeight, kept }), way };
  };
  // Each column fits by itself, and together they may not: what is above the line in one pushes the next one down.
  const draw = (...how) => {
    const room = Math.floor((height - 40) / rowHeight) - 1;
    const drawing = drawIn(room, ...how);
    const over = Math.ceil((drawing.bottom - drawing.top - height) / rowHeight);
    return detail === "turn" && over > 0 ? drawIn(Math.max(FEWEST_ROWS, room - over), ...how) : drawing;
  };
  if (detail === "all") return draw([0, 0], 0, Infinity);
  let narrowest = null;
  for (let way = first; way < WAYS[detail].length; way += 1) {
    const drawing = draw(WAYS[detail][way], way);
    if (drawing.width <= width) {
      // Names beside the line were cut to make it fit. If there is room after all, they are whole.
      const whole = draw(WAYS[detail][way], way, Infinity);
      return whole.width <= width ? whole : drawing;
    }
    if (!narrowest || drawing.width < narrowest.width) narrowest = drawing;
  }
  return narrowest;
}
