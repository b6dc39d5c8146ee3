// What the answer rests on: cited and found places at the left, their lines at the right.
import { get } from "../api.js";
import { languageOf, lines } from "../code.js";
import { editorAddress } from "../editor.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { Mark } from "../marks.js";
import { set, useStore } from "../store.js";
import { markWords } from "../words.js";

const BEFORE = 8;
const AFTER = 40;

/** Found places that the answer does not cite, each once. Pure. */
export function notCited({ cited, found }) {
  const within = (one) => cited.some((each) => each.path === one.path && each.first <= one.last && each.last >= one.first);
  const seen = new Set();
  return found.filter((one) => {
    const isNew = !seen.has(one.where);
    seen.add(one.where);
    return isNew && !within(one);
  });
}

export function Sources({ beside = false }) {
  const { run, citation } = useStore("run", "citation", "stage");
  const sources = run?.sources;
  if (!sources) {
    return html`<div class="sources empty"><p class="nothing">${run?.isLive ? "What is found is listed here once the answer is there." : "This run has no sources."}</p></div>`;
  }
  const others = notCited(sources);
  const holding = sources.cited.filter((one) => one.holds).length;
  const chosen = chosenOf(sources, others, citation);
  return html`<div class=${`sources${beside ? " beside" : ""}`}>
    <div class="list" role="listbox" aria-label="Places" tabindex="0" onKeyDown=${(event) => move(event, [...sources.cited, ...others], chosen)}>
      <div role="group" aria-label="Cited"><div class="kind" role="presentation">Cited <span>${sources.cited.length ? `${holding} of ${sources.cited.length} hold` : "nothing"}</span></div>
        ${sources.cited.map((one) => html`<${Place} key=${`c${one.number}`} place=${one} isChosen=${one === chosen} />`)}</div>
      ${others.length ? html`<div role="group" aria-label="Found, not cited"><div class="kind" role="presentation">Found, not cited <span>${others.length}</span></div>
        ${others.map((one) => html`<${Place} key=${one.where} place=${one} isChosen=${one === chosen} />`)}</div>` : null}
    </div>
    ${chosen ? html`<${Excerpt} place=${chosen} />` : html`<p class="nothing">Choose a place to see its lines.</p>`}
  </div>`;
}

function chosenOf(sources, others, citation) {
  if (citation == null) return sources.cited[0] ?? others[0] ?? null;
  if (typeof citation === "number") return sources.cited.find((one) => one.number === citation) ?? sources.cited[0] ?? null;
  return others.find((one) => one.where === citation) ?? sources.cited[0] ?? null;
}

const keyOf = (place) => place.number ?? place.where;

function move(event, places, chosen) {
  const by = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }[event.key];
  if (!by) return;
  const next = places[places.indexOf(chosen) + by];
  if (next) set({ citation: keyOf(next) });
  event.preventDefault();
  event.stopPropagation();
}

function Place({ place, isChosen }) {
  const [folder, file] = split(place.path ?? place.where.replace(/:\d.*$/, ""));
  const ref = useRef(null);
  useEffect(() => { if (isChosen) ref.current.scrollIntoView({ block: "nearest" }); }, [isChosen]);
  return html`<div ref=${ref} class=${`place${place.holds === false ? " fails" : ""}`} role="option" aria-selected=${String(isChosen)} onClick=${() => set({ citation: keyOf(place) })} title=${place.where}>
    <span class="n">${place.number ?? ""}</span><b>${file}<small>${folder}</small></b>
    <span class="range">${place.holds === false ? html`<${Mark} name="halt" label=${problemOf(place)} /> ` : null}${rangeOf(place)}</span>
  </div>`;
}

/** In the words of the answer, where the same mark is. */
const problemOf = (place) => markWords(place.note) || place.problem || "does not hold";

function split(path) {
  const at = path.lastIndexOf("/");
  const folder = at < 0 ? "" : path.slice(0, at).split("/").slice(-2).join("/");
  return [folder, path.slice(at + 1)];
}

function rangeOf(place) {
  const range = place.where.match(/:(\d+(?:-\d+)?)$/)?.[1];
  return range ?? (place.first ? `${place.first}${place.last > place.first ? `-${place.last}` : ""}` : "");
}

function Excerpt({ place }) {
  const [answer, setAnswer] = useState({ place: null });
  const ref = useRef(null);
  useEffect(() => {
    const leaving = new AbortController();
    linesOf(place, leaving.signal).then((found) => setAnswer({ place, ...found }), (problem) => { if (problem.name !== "AbortError") setAnswer({ place, problem: problem.message }); });
    return () => leaving.abort();
  }, [place]);
  const isHere = answer.place === place;
  useLayoutEffect(() => {
    const hit = isHere && ref.current?.querySelector(".hit");
    if (hit) ref.current.scrollTop = Math.max(0, hit.offsetTop - 5 * 20);
  }, [isHere, answer]);
  return html`<div class="excerpt">
    <header><code title=${place.where}><bdi>${place.path ?? place.where}</bdi></code>${verdictOf(place)}
      ${isHere && answer.lines ? html`<span class="acts"><button class="button plain small" onClick=${() => copyLines(answer, place)}>Copy</button><${InEditor} place=${place} /></span>` : null}</header>
    ${isHere && answer.lines ? html`<pre ref=${ref} tabindex="0" aria-label=${`Lines of ${place.path}`}>${numbered(answer, place)}</pre>` : html`<p class="nothing">${isHere ? answer.problem ?? "" : ""}</p>`}
    <footer>${readBy(place)}${isHere && answer.changed != null ? html`<span>${answer.changed ? "changed since" : "unchanged since"}</span>` : null}</footer>
  </div>`;
}

/** A link for those who have said which editor is theirs; for others the way to say it. */
function InEditor({ place }) {
  const { page } = useStore("page", "dialog");
  const address = editorAddress(page?.root, place.path, place.first ?? wanted(place));
  if (address) return html`<a class="button plain small" href=${address}>Open in editor</a>`;
  const canBe = editorAddress(page?.root, place.path, 1, { editor: "vscode" });
  return canBe ? html`<button class="button plain small" onClick=${() => set({ dialog: "settings" })}>Open in editor</button>` : null;
}

async function linesOf(place, signal) {
  if (!place.path) return { problem: place.holds === false ? `Nothing that was read in this run is named ${place.where}, so nothing backs it.` : place.note ?? "This place is not a file of the project." };
  const first = Math.max(1, (place.first ?? wanted(place)) - BEFORE);
  const query = new URLSearchParams({ path: place.path, first, last: (place.last ?? wanted(place)) + AFTER });
  if (place.digest) query.set("digest", place.digest);
  return get(`/api/lines?${query}`, { signal });
}

const wanted = (place) => Number(place.where.match(/:(\d+)/)?.[1] ?? 1);

function numbered({ lines: rows, path }, place) {
  const drawn = lines(rows.map((row) => row.text).join("\n"), languageOf(path));
  return rows.map((row, at) => html`<span key=${row.n} class=${row.n >= place.first && row.n <= place.last ? "hit" : ""}><i>${row.n}</i>${drawn[at]}${"\n"}</span>`);
}

function verdictOf(place) {
  if (place.holds === undefined) return null;
  if (place.holds) return html`<span class="verdict yes"><${Mark} name="yes" />holds</span>`;
  return html`<span class="verdict scarce"><${Mark} name="halt" />${problemOf(place)}</span>`;
}

function readBy(place) {
  if (!place.tool) return place.holds === false && place.path ? html`<span>not read in this run</span>` : null;
  const [first, last] = place.read ?? [place.first, place.last];
  return html`<span>read in turn ${place.turn} by <code>${place.tool}</code>${first ? `, lines ${first} to ${last}` : ""}</span>`;
}

const copyLines = ({ lines: rows }, place) => navigator.clipboard.writeText(rows.filter((row) => row.n >= place.first && row.n <= place.last).map((row) => row.text).join("\n"));
