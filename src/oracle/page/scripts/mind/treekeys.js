// Keys in the tree, as in any tree view: right opens or goes in, left closes or goes out, letters find.
import { set } from "../store.js";
import * as looking from "./looking.js";

let typed = { text: "", at: 0 };
const FORGET = 800;

/** `boxes` in the order of reading; `cursor` is the id of the one that has the focus. */
export function treeKey(event, { boxes, cursor, setCursor }) {
  const at = boxes.findIndex((one) => one.box.id === cursor);
  const one = boxes[at];
  if (!one || event.ctrlKey || event.metaKey || event.altKey) return;
  const go = (to) => to && setCursor(to.box.id);
  const isOpen = !one.box.isFolded && one.box.children.length > 0;
  const moves = {
    ArrowDown: () => go(boxes[at + 1]),
    ArrowUp: () => go(boxes[at - 1]),
    Home: () => go(boxes[0]),
    End: () => go(boxes.at(-1)),
    ArrowRight: () => (isOpen ? go(boxes.find((each) => each.parent === one.box)) : one.box.isGroup ? openGroup(one.box, setCursor) : !one.box.isLeaf && looking.open(one.box)),
    ArrowLeft: () => (isOpen && !one.box.isLit ? looking.close(one.box.id) : go(boxes.find((each) => each.box === one.parent))),
    Enter: () => (one.box.isGroup ? openGroup(one.box, setCursor) : set({ node: one.box.unit.inner.path })),
  };
  moves[" "] = moves.Enter;
  if (moves[event.key]) {
    moves[event.key]();
  } else if (!(event.key.length === 1 && /\S/.test(event.key)) || COMMANDS.has(event.key)) {
    return;
  } else {
    find(event, boxes, at, go);
  }
  event.preventDefault();
  event.stopPropagation();
}

// The group is gone when it is open: its first box gets the focus.
function openGroup(box, setCursor) {
  looking.open(box);
  setCursor(box.units[0].path);
}

// These stay what they are everywhere; finding a name begins with any other letter.
const COMMANDS = new Set(["[", "]", "+", "-", "0", "1", "2", "3", "/", "?", "b", "f", "t", "l", "n", "N"]);

function find(event, boxes, at, go) {
  const now = performance.now();
  typed = { text: now - typed.at > FORGET ? event.key : typed.text + event.key, at: now };
  const wanted = typed.text.toLowerCase();
  const order = [...boxes.slice(at + 1), ...boxes.slice(0, at + 1)];
  go(order.find((one) => (one.box.fullLabel ?? one.box.label).toLowerCase().startsWith(wanted)));
}

/** Walk through a drawing that cannot be opened or closed: up, down, Home, End; Enter is a click. */
export function walkKey(event) {
  const items = [...event.currentTarget.querySelectorAll("[role=treeitem]")];
  const at = items.indexOf(event.target.closest("[role=treeitem]"));
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
  if (event.key === "Enter") event.target.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  else if (to !== undefined) items[to]?.focus();
  else return;
  event.preventDefault();
  event.stopPropagation();
}
