// Numbers, times and places as people read them.

const COUNT = new Intl.NumberFormat("en");

export const count = (number) => COUNT.format(Math.round(number));

export function seconds(value) {
  if (value == null) return "";
  if (value < 10) return `${value.toFixed(1)} s`;
  if (value < 90) return `${Math.round(value)} s`;
  return `${Math.round(value / 60)} min`;
}

export function money(value) {
  return value ? `$${value < 0.1 ? value.toFixed(4) : value.toFixed(2)}` : "";
}

/** "5 citations hold", "3 of 5 citations hold", "1 citation holds". */
export function holdWords(hold, of) {
  const noun = of === 1 && hold === 1 ? "citation" : "citations";
  return `${hold === of ? of : `${hold} of ${of}`} ${noun} ${hold === 1 ? "holds" : "hold"}`;
}

/** "1 turn", "3 turns". */
export const plural = (number, noun, nouns = `${noun}s`) => `${count(number)} ${number === 1 ? noun : nouns}`;

/** How long ago, shortly: now, 4 min, 2 h, 3 d. */
export function age(at, now = Date.now() / 1000) {
  const past = Math.max(0, now - at);
  if (past < 60) return "now";
  if (past < 3600) return `${Math.floor(past / 60)} min`;
  if (past < 86400) return `${Math.floor(past / 3600)} h`;
  return `${Math.floor(past / 86400)} d`;
}

/** The heading of a day in a list: Today, Yesterday, a weekday, a date. */
export function day(at, now = new Date()) {
  const date = new Date(at * 1000);
  const days = Math.round((midnight(now) - midnight(date)) / 86_400_000);
  if (days <= 0) return "Today";
  if (days === 1) return "Yesterday";
  if (days < 7) return date.toLocaleDateString("en", { weekday: "long" });
  return date.toLocaleDateString("en", { day: "numeric", month: "long", year: "numeric" });
}

function midnight(date) {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

/** A path that loses its left end, folder by folder, until it fits. */
export function shortPath(path, most) {
  if (path.length <= most) return path;
  const parts = path.split("/");
  while (parts.length > 1 && parts.join("/").length + 2 > most) parts.shift();
  return `…/${parts.join("/")}`;
}

/** A stop reason of the trees in words. */
export const inWords = (reason) => (reason ?? "").replaceAll("_", " ");
