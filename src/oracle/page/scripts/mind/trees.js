// The trees: Lua beside its drawing. A copy can be changed here, and what that would have decided differently in the
// recordings at hand is shown at once. Nothing is written.
import { get, request } from "../api.js";
import { plural } from "../format.js";
import { html, useEffect, useMemo, useRef, useState } from "../html.js";
import { Mark } from "../marks.js";
import { state, useStore } from "../store.js";
import { Box } from "./box.js";
import { Editor } from "./editing.js";
import { layOut } from "./layout.js";
import { measure } from "./measure.js";
import { indexTree, newRun, take } from "./reduce.js";
import { shapeOf } from "./shape.js";
import { walkKey } from "./treekeys.js";
import { Comparison, recorded } from "./compare.js";
import { sideWords, verdictWords } from "./union.js";

const RECORDINGS = 3;
const PAUSE = 500; // after the last key, before the recordings are replayed

export function Trees({ name }) {
  const { page, route } = useStore("page", "route");
  const [list, setList] = useState([]);
  useEffect(() => { get("/api/trees").then(setList).catch(() => {}); }, []);
  // A card names a file, a link a tree.
  const chosen = list.find((one) => one.name === name) ?? list.find((one) => stem(one.file) === name) ?? list.find((one) => one.name === "oracle-agent") ?? list[0];
  const runs = recordingsOf(page, route.query?.get("run"));
  const isLost = name && chosen && chosen.name !== name && stem(chosen.file) !== name;
  return html`<div class="trees">
    <nav aria-label="Trees"><h1>Trees</h1>${isLost ? html`<p class="nothing" role="status">There is no tree “${name}”. This is ${chosen.name}.</p>` : null}${byFile(list).map(([file, trees]) => html`<div key=${file}><h2><code>${file.split("/").at(-1)}</code></h2><ul>${trees.map((one) => html`<li key=${one.name}><a href=${`/trees/${encodeURIComponent(one.name)}${route.query?.size ? `?${route.query}` : ""}`} aria-current=${one === chosen ? "page" : undefined} title=${one.description}>${one.name}</a></li>`)}</ul></div>`)}</nav>
    ${chosen ? html`<${OneTree} key=${chosen.file} name=${chosen.name} runs=${runs} />` : html`<p class="nothing">Reading the trees.</p>`}
  </div>`;
}

const stem = (file) => file.split("/").at(-1).replace(/\.lua$/, "");

function byFile(list) {
  const files = new Map();
  for (const one of list) files.set(one.file, [...(files.get(one.file) ?? []), one]);
  return [...files];
}

function recordingsOf(page, wanted) {
  const done = (page?.runs ?? []).filter((run) => run.status === "done" && run.tree === "oracle-agent");
  const first = wanted ? [done.find((run) => run.id === wanted) ?? { id: wanted, question: "this run" }] : [];
  return [...first, ...done.filter((run) => run.id !== wanted)].slice(0, RECORDINGS);
}

function OneTree({ name, runs }) {
  const [tree, setTree] = useState(null);
  const [text, setText] = useState(null);
  const area = useRef(null);
  useEffect(() => {
    let isOver = false;
    get(`/api/trees/${encodeURIComponent(name)}`).then((found) => { if (!isOver) { setTree(found); setText((before) => before ?? found.source); } });
    return () => { isOver = true; };
  }, [name]);
  const [both, setBoth] = useState(null);
  const isChanged = tree && text !== tree.source;
  const results = useReplays(runs, isChanged ? { [tree.file.split("/").at(-1)]: text } : null);
  const find = (words) => {
    const at = words ? text.indexOf(words) : -1;
    if (at < 0) return;
    area.current.focus();
    area.current.setSelectionRange(at, at + words.length);
    area.current.scrollTop = Math.max(0, (text.slice(0, at).split("\n").length - 6) * 19);
  };
  if (!tree) return html`<div class="onetree" aria-busy="true"></div>`;
  if (both) return html`<div class="besides"><p><button class="button plain small" onClick=${() => setBoth(null)}>Back to the tree</button></p><${Comparison} ...${both} /></div>`;
  return html`<div class="onetree">
    <section class="luapane" aria-label="Lua"><header><code>${tree.file.split("/").at(-1)}</code><span>${isChanged ? "a changed copy; nothing is written" : "change a copy to see what it would have decided"}</span>${isChanged ? html`<button class="button plain small" onClick=${() => setText(tree.source)}>Undo all</button><button class="button plain small" onClick=${() => navigator.clipboard.writeText(text)}>Copy</button>` : null}</header>
      <${Editor} area=${area} text=${text ?? ""} setText=${setText} /></section>
    <section class="drawpane" aria-label="Drawing"><header><b>${tree.name}</b><span>${tree.description}</span></header><${Drawing} tree=${tree} onChoose=${(node) => find(words(node, text))} /></section>
    <section class="whatif" tabindex="0" aria-label="What it would have changed" aria-live="polite"><${WhatIf} results=${results} runs=${runs} isChanged=${isChanged} onOpen=${(result) => sideBySide(result).then(setBoth)} /></section>
  </div>`;
}

// A node's name as it is written, or the name of its leaf.
function words(node, text) {
  const named = `"${node.name}"`;
  return text.includes(named) ? named : (node.leaf ?? node.name).split(".").at(-1).replaceAll(" ", "_");
}

/** What GET /api/trees/NAME says, as the nodes of a tree. Pure. */
export function nodesOf(tree) {
  const nodes = [];
  const walk = (node, parent) => {
    const options = node.options ?? {};
    const leaf = Object.values(options).find((value) => typeof value === "string" && /^[\w.]+\.[\w.]+$/.test(value)) ?? null;
    nodes.push({ path: node.id, name: node.name ?? node.kind, kind: node.kind, parent, leaf, options, description: node.description ?? "" });
    for (const child of node.children ?? []) walk(child, node.id);
  };
  for (const root of [tree.root, tree.finish]) if (root) walk(root, null);
  return nodes;
}

function Drawing({ tree, onChoose }) {
  const indexed = useMemo(() => indexTree({ nodes: nodesOf(tree) }), [tree]);
  const [opened, setOpened] = useState(null);
  const open = opened ?? new Set(firstLevels(indexed));
  const view = { statuses: new Map(), focus: null };
  const { root } = shapeOf(indexed, view, { detail: "path", opened: open, closed: new Set(), longest: Infinity });
  const drawing = layOut(root, { measure });
  const y = 24 - drawing.top;
  const choose = (event) => {
    const id = event.target.closest("[data-id]")?.dataset.id;
    const box = id && drawing.boxes.find((one) => one.box.id === id)?.box;
    if (!box) return;
    const isToggle = !box.isLeaf && (event.target.closest("[data-open]") || box.isFolded || event.detail === 2);
    if (isToggle) setOpened(open.has(id) ? new Set([...open].filter((one) => one !== id)) : new Set(open).add(id));
    if (box.unit) onChoose(box.unit.inner);
  };
  return html`<div class="canvas"><svg class="tree still" width=${drawing.width + 60} height=${drawing.bottom - drawing.top + 48} role="tree" aria-label=${`Tree ${tree.name}`} onKeyDown=${walkKey} onClick=${choose}>
    <g class="world" role="none" style=${{ transform: `translate(20.5px,${y + 0.5}px)` }}>
      <g role="none" aria-hidden="true">${drawing.edges.map((edge) => html`<path key=${edge.id} class="edge" d=${edge.d} />`)}</g>
      ${drawing.boxes.map((one, at) => html`<${Box} key=${one.box.id} one=${one} its=${{ isTabStop: at === 0, size: one.parent?.children.length ?? 1, place: (one.parent?.children.indexOf(one.box) ?? 0) + 1 }} />`)}
    </g></svg></div>`;
}

const LEVELS = 3;
const firstLevels = (tree) => tree.nodes.filter((node) => node.depth < LEVELS && node.children.length).map((node) => node.path);

// A result for each recording: {differences, same_answer, …} or {problem}. An older answer never overtakes a newer one.
function useReplays(runs, trees) {
  const [results, setResults] = useState(null);
  const key = trees ? JSON.stringify(trees) : "";
  useEffect(() => {
    if (!trees) { setResults(null); return undefined; }
    const leaving = new AbortController();
    const timer = setTimeout(async () => {
      const found = await Promise.all(runs.map((run) => replayed(run, trees, leaving.signal)));
      if (!leaving.signal.aborted) setResults(found);
    }, PAUSE);
    return () => { clearTimeout(timer); leaving.abort(); };
  }, [key, runs.map((run) => run.id).join()]);
  return results;
}

async function replayed(run, trees, signal) {
  try {
    const response = await request(`/api/runs/${run.id}/replay`, { method: "POST", body: { tree_lua: trees }, signal });
    return { run, ...(await response.json()) };
  } catch (problem) {
    return { run, problem: problem.message };
  }
}

function WhatIf({ results, runs, isChanged, onOpen }) {
  if (!runs.length) return html`<p class="nothing">No runs yet. Each question becomes one, and a changed tree is tried on them.</p>`;
  if (!isChanged) return html`<p class="nothing">Tried on ${plural(runs.length, "recording")}: ${runs.map((run) => run.question).join(" · ")}</p>`;
  if (!results) return html`<p class="nothing">Replaying ${plural(runs.length, "recording")}.</p>`;
  // A file that cannot be read is the same for all.
  const broken = results.every((one) => one.problem) && new Set(results.map((one) => one.problem)).size === 1;
  if (broken) return html`<p class="problem"><${Mark} name="err" /> ${results[0].problem}</p>`;
  return html`<ul>${results.map((one) => html`<${Result} key=${one.run.id} result=${one} onOpen=${() => onOpen(one)} />`)}</ul>`;
}

// The recorded run beside the replay, whose frames came with the verdict.
async function sideBySide({ run, mind, ...verdict }) {
  const left = await recorded(run.id);
  const right = newRun(run.id);
  for (const { type, data } of mind) take(right, type, data);
  right.isLive = false; // a replay that ran out of answers has no end
  return { left, right, verdict };
}

function Result({ result, onOpen }) {
  const { run, problem } = result;
  if (problem) return html`<li><p class="problem"><${Mark} name="halt" /> ${problem}</p><small>${run.question}</small></li>`;
  const differences = (result.differences ?? []).filter((one) => !one.assumed);
  const { head, rest } = verdictWords(differences, result.same_answer ?? true);
  return html`<li><p><${Mark} name=${differences.length ? "diff" : "yes"} /> <a href=${`/runs/${run.id}`}><b class=${differences.length ? "differs-words" : ""}>${head}</b>${rest.startsWith(",") ? "" : " "}${rest}</a>${differences.length && result.mind ? html` <button class="plainlink" onClick=${onOpen}>Side by side</button>` : null}</p><small>${run.question}</small>
    ${differences.length ? html`<ol>${differences.slice(0, 4).map((one) => html`<li key=${one.number}>turn ${Math.max(1, one.turn)}: <b>${one.path?.split("/").at(-1) ?? "other effects"}</b> ${one.path ? `${sideWords(one.a)} → ${sideWords(one.b)}` : one.why}</li>`)}</ol>` : null}</li>`;
}

/** Where a node's Lua is shown. */
export const treeAddress = (file) => `/trees/${encodeURIComponent(stem(file))}${state.run ? `?run=${state.run.id}` : ""}`;
