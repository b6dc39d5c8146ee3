// How wide a text is in the page's own face. Widths are kept: the same names are drawn again and again.

const kept = new Map();
let context = null;
let known = 0;

export function measure(text, isBold) {
  const key = isBold ? `*${text}` : text;
  let width = kept.get(key);
  if (width === undefined) {
    context ??= document.createElement("canvas").getContext("2d");
    const family = getComputedStyle(document.documentElement).getPropertyValue("--sans") || "sans-serif";
    context.font = `${isBold ? 600 : 500} 12px ${family}`;
    width = context.measureText(text).width;
    kept.set(key, width);
  }
  return width;
}

/** The face may come after the first drawing. */
export function forgetWidths() {
  kept.clear();
  context = null;
  known += 1;
}

/** Another number once widths may be other ones. */
export const faces = () => known;
