// Answers as DOM. The text comes from a model that has read files of others, so nothing in it is trusted:
// HTML in it is shown as text, images are links, and what is left passes DOMPurify.
import { Marked } from "../../vendor/marked.js";
import DOMPurify from "../../vendor/dompurify.js";
import { languageOf, paint } from "../code.js";

const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escape = (text) => text.replace(/[&<>"']/g, (character) => escapes[character]);

const marked = new Marked({
  gfm: true,
  renderer: {
    html: ({ text }) => escape(text),
    image: ({ href, text }) => `<a href="${escape(href)}">${escape(text || href)}</a>`,
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
});

const CLEAN = {
  ALLOWED_TAGS: [
    "a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
  ],
  ALLOWED_ATTR: ["href", "align", "class", "start"],
  // Without this a number or a side is taken for an address, and dropped.
  ADD_URI_SAFE_ATTR: ["start", "align"],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  RETURN_DOM_FRAGMENT: true,
};

/** The blocks of a text, each with the source that it was made from. */
export const blocksOf = (text) => marked.lexer(text);

/** One block as an element. Headings begin at 3: the question is the heading of the page's section. */
export function drawBlock(token) {
  const block = document.createElement("div");
  block.className = "block";
  block.append(DOMPurify.sanitize(marked.parser([token]), CLEAN));
  for (const heading of block.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const level = Math.min(6, Number(heading.tagName[1]) + 2);
    const lower = document.createElement(`h${level}`);
    lower.append(...heading.childNodes);
    heading.replaceWith(lower);
  }
  for (const link of block.querySelectorAll("a")) {
    if (!link.hasAttribute("href")) {
      link.replaceWith(...link.childNodes);
      continue;
    }
    link.className = "out";
    link.target = "_blank";
    link.rel = "noopener noreferrer nofollow";
    link.title = link.href;
  }
  // A list that goes on after a block keeps its number. The policy forbids the attribute, not the property.
  for (const list of block.querySelectorAll("ol[start]")) list.style.counterReset = `item ${Number(list.start) - 1}`;
  for (const table of block.querySelectorAll("table")) {
    const frame = document.createElement("div");
    frame.className = "table";
    frame.tabIndex = 0;
    frame.setAttribute("role", "group");
    frame.setAttribute("aria-label", "Table");
    table.replaceWith(frame);
    frame.append(table);
  }
  for (const code of block.querySelectorAll("pre > code")) drawCode(code);
  return block;
}

function drawCode(code) {
  const language = languageOf(/language-([\w+#.-]+)/.exec(code.className)?.[1] ?? "");
  const text = code.textContent.replace(/\n$/, "");
  paint(code, text, language);
  code.className = "";
  code.tabIndex = 0;
  code.setAttribute("role", "group"); // not a landmark: an answer has many of them
  code.setAttribute("aria-label", language ? `Code, ${language}` : "Code");
  const copy = document.createElement("button");
  copy.type = "button";
  copy.className = "copy-code";
  copy.textContent = "Copy";
  copy.setAttribute("aria-label", "Copy the code");
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    copy.textContent = "Copied";
  });
  code.parentElement.append(copy);
}
