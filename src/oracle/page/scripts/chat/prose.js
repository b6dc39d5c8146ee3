// The text of an answer. Blocks that cannot change any more are drawn once; only the end is drawn again
// while it streams, so a long answer costs no more than a short one.
import { html, useEffect, useLayoutEffect, useRef } from "../html.js";
import { state, useStore } from "../store.js";
import { blocksOf, drawBlock } from "./markdown.js";
import { linkCitations, previewPlaces } from "./citations.js";

class Flow {
  constructor(element) {
    this.element = element;
    this.text = "";
    this.settled = 0; // characters of the text that are drawn for good
    this.done = []; // the {raw, element} of these
    this.tail = []; // {raw, element} after that
  }

  /** Draw the text; what was drawn before and has not changed stays as it is. */
  show(text) {
    if (!text.startsWith(this.text.slice(0, this.settled))) this.unsettle();
    this.text = text;
    const tokens = blocksOf(text.slice(this.settled)).filter((token) => token.raw);
    const tail = [];
    for (const token of tokens) {
      const old = this.tail[tail.length];
      if (old?.raw === token.raw) {
        tail.push(old);
        continue;
      }
      const element = drawBlock(token);
      if (!element.firstChild) element.hidden = true;
      previewPlaces(element);
      if (old) old.element.replaceWith(element);
      else this.element.append(element);
      tail.push({ raw: token.raw, element });
    }
    for (const old of this.tail.slice(tail.length)) old.element.remove();
    // The last block may still grow, and blank lines may turn out to be inside of a list.
    while (tail.length > 2 && tail.at(-1).raw.trim()) {
      this.settled += tail[0].raw.length;
      this.done.push(tail.shift());
    }
    this.tail = tail;
  }

  /** An earlier part is another one now, such as a citation with its mark. What is the same is still kept. */
  unsettle() {
    Object.assign(this, { settled: 0, tail: [...this.done, ...this.tail], done: [] });
  }

  clear() {
    this.element.replaceChildren();
    Object.assign(this, { text: "", settled: 0, done: [], tail: [] });
  }
}

export function Prose({ text, citations, isWriting, exchangeId, onOpen }) {
  const element = useRef(null);
  const flow = useRef(null);
  const linked = useRef(null);
  useStore("citation");

  useLayoutEffect(() => {
    flow.current ??= new Flow(element.current);
    if (linked.current) {
      if (linked.current.text === text && linked.current.citations === citations) return;
      flow.current.clear();
      linked.current = null;
    }
    flow.current.show(text);
    if (citations?.length) {
      linkCitations(element.current, citations, exchangeId, (citation) => onOpen(citation.number));
      linked.current = { text, citations };
    }
    putCaret(element.current, isWriting);
  }, [text, citations, isWriting]);

  const open = state.session?.shown === exchangeId ? state.citation : null;
  useEffect(() => {
    for (const link of element.current.querySelectorAll(".cite[data-number]")) {
      if (Number(link.dataset.number) === open) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  });
  return html`<div class="prose" ref=${element} aria-live="off" aria-busy=${isWriting ? "true" : "false"}></div>`;
}

/** The caret sits at the end of the last line, inside of the innermost last element. */
function putCaret(element, isWriting) {
  element.querySelector(".caret")?.remove();
  if (!isWriting) return;
  const caret = document.createElement("span");
  caret.className = "caret";
  let place = [...element.querySelectorAll(":scope > .block:not([hidden])")].at(-1) ?? element;
  for (let inner = place; inner; ) {
    place = inner;
    inner = [...inner.children].filter((child) => child.matches("p, ul, ol, li, pre, pre > code, blockquote, h3, h4, h5, h6")).at(-1);
  }
  place.append(caret);
}
