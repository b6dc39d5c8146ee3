// Citations inside of an answer that has been drawn: each becomes a link with a number.

const PLACE = /^[\w.@+-]+(?:\/[\w.@+-]+)*\.\w+(?::\d+(?:-\d+)?|#L\d+(?:-L\d+)?)$/;
/** How many citations ahead are looked for: one that is set across several nodes must not hold up the rest. */
const AHEAD = 6;

/** While the answer is being written nothing is checked yet: what looks like a place is set as one. */
export function previewPlaces(element) {
  for (const code of element.querySelectorAll("code")) {
    if (!code.closest("pre") && PLACE.test(code.textContent)) code.classList.add("cite");
  }
}

/** Turn `citations` (in the order of the text) into links that call `open(citation)`. */
export function linkCitations(element, citations, exchangeId, open) {
  for (const code of element.querySelectorAll("code.cite")) code.classList.remove("cite");
  let next = 0;
  for (const node of textNodes(element)) {
    let rest = node;
    while (rest && next < citations.length) {
      const found = earliest(rest.data, citations.slice(next, next + AHEAD));
      if (!found) break;
      const citation = citations[next + found.index];
      next += found.index + 1;
      const place = rest.splitText(found.at);
      rest = place.splitText(citation.text.length);
      wrap(place, citation, exchangeId, open);
      const code = rest.parentElement.closest("code");
      if (!citation.holds) rest = dropMark(rest, citation);
      if (code) liftOut(code);
    }
  }
}

/** The text of the code may be nothing but the citation: then the link takes its place. */
function liftOut(code) {
  const link = code.querySelector(":scope > .cite");
  const isAlone = link && [...code.childNodes].every((node) => node === link || node.classList?.contains("cite-problem") || !node.textContent);
  if (isAlone) code.replaceWith(link, ...code.querySelectorAll(".cite-problem"));
}

function earliest(text, citations) {
  let best = null;
  citations.forEach((citation, index) => {
    const at = citation.text ? text.indexOf(citation.text) : -1;
    if (at >= 0 && (!best || at < best.at)) best = { at, index };
  });
  return best;
}

function wrap(node, citation, exchangeId, open) {
  const link = document.createElement("a");
  link.className = citation.holds ? "cite" : "cite fails";
  link.dataset.number = citation.number;
  link.href = citation.url || `#${exchangeId}:${citation.number}`;
  const state = citation.holds ? "holds" : citation.problem;
  link.title = citation.holds ? `${citation.where}: it holds` : `${citation.where || citation.text}: ${citation.problem}`;
  const number = document.createElement("sup");
  number.textContent = citation.number;
  number.setAttribute("aria-hidden", "true"); // read aloud it would be one more digit of the line
  const said = document.createElement("span");
  said.className = "vh";
  said.textContent = `, citation ${citation.number}, ${state}`;
  node.replaceWith(link);
  link.append(node, number, said);
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(citation);
  });
  if (citation.holds) return;
  const problem = document.createElement("span");
  problem.className = "cite-problem";
  problem.textContent = citation.problem;
  link.after(problem);
}

/** The answer's own mark says what the small amber word says now. It may follow a closing code element. */
function dropMark(rest, citation) {
  const mark = (citation.mark ?? "").trim();
  if (!mark) return rest;
  for (const node of [rest, textAfter(rest)]) {
    const at = node?.data.indexOf(mark) ?? -1;
    if (at < 0 || at > 2) continue;
    node.data = node.data.slice(0, at).trimEnd() + node.data.slice(at + mark.length);
    break;
  }
  return rest;
}

function textAfter(node) {
  const code = node.parentElement.closest("code");
  const next = code ? code.nextSibling : node.nextSibling;
  return next?.nodeType === Node.TEXT_NODE ? next : null;
}

function textNodes(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement.closest("pre, .cite, .cite-problem, .copy-code") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
  );
  const all = [];
  while (walker.nextNode()) all.push(walker.currentNode);
  return all;
}
