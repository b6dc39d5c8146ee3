// Single keys. They are off while typing, with a modifier, and if the reader has switched them off.

const OFF = "oracle.keys";
const known = new Map();
let prefix = null;

/** Call `act` for a key such as "j", "Escape" or "g r" (one after the other). Returns how to end that. */
export function onKey(key, act) {
  if (!known.has(key)) known.set(key, []);
  known.get(key).push(act);
  return () => {
    const acts = known.get(key);
    acts.splice(acts.indexOf(act), 1);
  };
}

export const areKeysOff = () => localStorage.getItem(OFF) === "off";
export const switchKeys = (isOff) => localStorage.setItem(OFF, isOff ? "off" : "on");

const TYPING = "input:not([type=checkbox]):not([type=radio]):not([type=range]), textarea, select, [contenteditable=true]";

export function listen() {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    // A dialog has its own keys, and the browser closes it with Escape.
    if (document.querySelector("dialog[open]")) return;
    const isTyping = event.target.closest?.(TYPING);
    const isLetter = event.key.length === 1;
    if (isTyping && event.key !== "Escape") return;
    if (isLetter && areKeysOff() && event.key !== "?") return;
    // Enter and space belong to the control that has the focus.
    if ((event.key === " " || event.key === "Enter") && event.target.closest?.("button, a, summary, input, [role=tab], [role=slider]")) return;
    const chord = prefix && `${prefix} ${event.key}`;
    prefix = null;
    const acts = known.get(chord) ?? known.get(event.shiftKey && isLetter && event.key !== "?" ? `Shift+${event.key.toLowerCase()}` : event.key);
    if (!acts?.length) {
      if ([...known.keys()].some((key) => key.startsWith(`${event.key} `))) prefix = event.key;
      return;
    }
    // The newest one first: what has opened last closes first. It may decline by returning false.
    for (const act of [...acts].reverse()) {
      if (act(event) !== false) {
        event.preventDefault();
        return;
      }
    }
  });
}
