// A node's card: what it is for, what it reads and writes, its history by turn, its Lua, and a break before it.
import { request } from "../api.js";
import { lines } from "../code.js";
import { count, money } from "../format.js";
import { html, useState } from "../html.js";
import { Icon } from "../icons.js";
import { Mark, markOf } from "../marks.js";
import { set, useStore } from "../store.js";
import { setStop } from "./looking.js";
import { linesOfNode, useLua } from "./lua.js";
import { useShown } from "./shown.js";
import { kindWord, statusWord } from "./words.js";

const TURNS = 4;
const LINE = 30; // characters of names in a line of the card

/** One row for each turn in which the node was reached: its last status, and what it cost. Pure. */
export function historyOf(run, node, step) {
  const rows = new Map();
  for (const change of run.nodes.get(node.path) ?? []) {
    if (change.step < step) rows.set(change.turn, { turn: change.turn, status: change.status, note: change.note, step: change.step });
  }
  for (const cost of run.costs) {
    if (cost.path !== node.path || cost.step > step) continue;
    const row = rows.get(cost.turn) ?? { turn: cost.turn, status: null };
    row.tokens = (row.tokens ?? 0) + (cost.tokens ?? 0);
    row.cost = (row.cost ?? 0) + (cost.cost ?? 0);
    rows.set(cost.turn, row);
  }
  return [...rows.values()].sort((a, b) => a.turn - b.turn);
}

export function Card() {
  const { run, node: path, looking } = useStore("run", "node", "looking");
  const view = useShown();
  const [isLua, showLua] = useState(false);
  const lua = useLua(path ? run : null);
  const node = path && run?.tree ? run.tree.byPath.get(path) : null;
  if (!node) return null;
  const status = view.statuses.get(path)?.status;
  const name = node.kind === "exit" ? `exit ${node.options?.loop ?? ""}` : node.name;
  const file = lua?.files?.[node.file];
  return html`<aside class="card floats" aria-label=${`Node: ${name}`}>
    <h3>${name}<span class="kind">${kindWord(node.kind)}, ${statusWord(status)}</span><button class="icon" aria-label="Close the card" onClick=${() => set({ node: null })}><${Icon} name="close" size=${14} /></button></h3>
    ${node.description ? html`<p>${node.description}</p>` : null}
    <dl>
      ${node.leaf ? html`<dt>leaf</dt><dd><code title=${node.leaf}>${node.leaf.replace(/^oracle\.bt\.(actions|conditions)\./, "")}</code></dd>` : null}
      ${node.expression ? html`<dt>asks</dt><dd><code title=${node.expression}>${node.expression}</code></dd>` : null}
      ${node.reads?.length ? html`<dt>reads</dt><dd title=${node.reads.join(", ")}>${keysOf(node.reads)}</dd>` : null}
      ${node.writes?.length ? html`<dt>writes</dt><dd title=${node.writes.join(", ")}>${keysOf(node.writes)}</dd>` : null}
      ${Object.keys(node.options ?? {}).length ? html`<dt>with</dt><dd><code>${optionWords(node.options)}</code></dd>` : null}
    </dl>
    <${History} run=${run} node=${node} view=${view} />
    ${isLua && file ? html`<pre class="lua" tabindex="0">${lines(linesOfNode(file, node.line).join("\n"), "lua").map((row, at) => html`<span key=${at}>${row}${"\n"}</span>`)}</pre>` : null}
    <footer>
      <button class="plainlink" aria-expanded=${String(isLua)} disabled=${!file} onClick=${() => showLua(!isLua)}><code>${node.file}:${node.line}</code></button>
      ${run.isLive ? html`<${Break} run=${run} path=${path} isSet=${looking.stops.has(path)} />` : html`<a class="plainlink" href=${`/trees/${treeName(run, node)}?run=${run.id}`}>Change a copy</a>`}
    </footer>
  </aside>`;
}

/** As many as fit in a line, and how many more there are. */
function keysOf(keys) {
  let [shown, length] = [0, 0];
  while (shown < keys.length && (shown === 0 || length + keys[shown].length <= LINE)) {
    length += keys[shown].length + 2;
    shown += 1;
  }
  return `${keys.slice(0, shown).join(", ")}${keys.length > shown ? ` +${keys.length - shown}` : ""}`;
}

function optionWords(options) {
  const pairs = Object.entries(options.args ? { ...options, ...options.args, args: undefined } : options);
  return pairs.filter(([, value]) => value !== undefined).map(([key, value]) => `${key} = ${typeof value === "object" ? JSON.stringify(value) : value}`).join(", ");
}

const treeName = (run, node) => encodeURIComponent((node.file ?? run.tree.name).replace(/\.lua$/, ""));

function History({ run, node, view }) {
  const rows = historyOf(run, node, view.step);
  if (!rows.length) return html`<p class="nothing">Not reached so far.</p>`;
  const shown = rows.slice(-TURNS);
  return html`<ol>
    ${rows.length > shown.length ? html`<li class="earlier"><span></span><span>${rows.length - shown.length} earlier</span></li>` : null}
    ${shown.map((row) => html`<li key=${row.turn} class=${row.status === "running" ? "now" : ""} title=${row.note ?? ""}><${Mark} name=${markOf(row.status)} label=${statusWord(row.status)} /><span>${row.turn ? `turn ${row.turn}` : "before the turns"}</span><span>${worth(row)}</span></li>`)}
  </ol>`;
}

function worth(row) {
  if (row.tokens) return `${count(row.tokens)} tokens${row.cost ? `, ${money(row.cost)}` : ""}`;
  return row.status === "running" ? "now" : row.note ?? statusWord(row.status);
}

function Break({ run, path, isSet }) {
  return html`<button class="button plain small" aria-pressed=${String(isSet)} onClick=${() => breakBefore(run, path, !isSet)}>${isSet ? "No break" : "Break before it"} <kbd>b</kbd></button>`;
}

/** Hold the live run before this node, or no longer. */
export async function breakBefore(run, path, isSet) {
  setStop(path, isSet);
  try {
    if (isSet) await request(`/api/runs/${run.id}/breaks`, { method: "POST", body: { path } });
    else await request(`/api/runs/${run.id}/breaks?${new URLSearchParams({ path })}`, { method: "DELETE" });
  } catch {
    setStop(path, !isSet); // the run has ended meanwhile
  }
}

export const goOn = (run, step) => request(`/api/runs/${run.id}/continue`, { method: "POST", body: { step } });
