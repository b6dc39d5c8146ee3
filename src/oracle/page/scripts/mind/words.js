// How kinds and statuses are said. Pure.

export const STATUS_WORDS = {
  running: "running", success: "yes", failure: "no", skipped: "skipped", halted: "halted", error: "broken",
};
export const STATUS_CLASSES = {
  running: "running", success: "yes", failure: "no", skipped: "skipped", halted: "halted", error: "error",
};

export const statusWord = (status) => STATUS_WORDS[status] ?? "not reached";
export const statusClass = (status) => STATUS_CLASSES[status] ?? "idle";
export const kindWord = (kind) => kind.replaceAll("_", " ");

/** What a screen reader says for a box: "response, selector, running". */
export function boxName(box, difference = null) {
  const kind = box.unit ? kindWord(box.unit.inner.kind) : "folded";
  const decorated = box.wrappers.map((one) => kindWord(one.kind));
  // What can be seen comes first, as it is seen: who speaks to the page says these words.
  const seen = [box.label, box.isFolded && box.count, difference].filter(Boolean).join(" ");
  const whole = box.fullLabel && box.fullLabel !== box.label ? box.fullLabel : "";
  return [seen, whole, kind, ...decorated, box.decided ? "decided" : statusWord(box.status), difference && "differs"].filter(Boolean).join(", ");
}

/** "question › turns › turn 3": the boxes that became words, with the number of the turn. */
export function crumbWords(crumbs, turn) {
  const names = crumbs.flatMap((one) => one.label.split(" › "));
  const at = names.lastIndexOf("turn");
  return names.map((name, index) => (index === at && turn ? `turn ${turn}` : name)).join(" › ");
}
