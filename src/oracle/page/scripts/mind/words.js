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
export function boxName(box) {
  const kind = box.unit ? kindWord(box.unit.inner.kind) : "folded";
  const decorated = box.wrappers.map((one) => kindWord(one.kind));
  const below = box.isFolded && box.count ? `${box.count} below` : "";
  return [box.fullLabel ?? box.label, kind, ...decorated, box.decided ? "decided" : statusWord(box.status), below].filter(Boolean).join(", ");
}
