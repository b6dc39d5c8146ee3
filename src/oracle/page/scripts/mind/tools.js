// With what: tools that are offered, withheld and withdrawn, each with the reason.
import { html, useState } from "../html.js";
import { Mark } from "../marks.js";
import { state } from "../store.js";
import { useShown } from "./shown.js";

const ORDER = ["offered", "withheld", "withdrawn"];
const ROWS = 6;

/** Tools of one state and one reason are one row, but for the first ones offered. Pure. */
export function toolRows(tools, most = ROWS) {
  const rows = [];
  for (const wanted of ORDER) {
    const groups = new Map();
    for (const tool of tools.filter((one) => one.state === wanted)) {
      if (!groups.has(tool.reason)) groups.set(tool.reason, []);
      groups.get(tool.reason).push(tool);
    }
    for (const [reason, group] of groups) rows.push({ state: wanted, reason, tools: group });
  }
  // As many rows as there is room for; the biggest group is taken apart first, and only offered ones.
  while (rows.length < most) {
    const at = rows.findIndex((row) => row.state === "offered" && row.tools.length > 1 && !row.isTakenApart);
    if (at < 0) break;
    const [first, ...rest] = rows[at].tools;
    rows.splice(at, 1, { ...rows[at], tools: [first], isTakenApart: true }, { ...rows[at], tools: rest });
  }
  return rows;
}

/** What has changed between two turns: a line for those that became the same in the same turn. Pure. */
export function toolChanges(lists) {
  const lines = [];
  for (let i = 1; i < lists.length; i += 1) {
    const before = new Map(lists[i - 1].list.map((tool) => [tool.name, tool.state]));
    for (const tool of lists[i].list) {
      if (!before.has(tool.name) || before.get(tool.name) === tool.state) continue;
      const line = lines.find((one) => one.turn === lists[i].turn && one.state === tool.state);
      if (line) line.names.push(tool.name);
      else lines.push({ turn: lists[i].turn, state: tool.state, names: [tool.name] });
    }
  }
  return lines;
}

const markFor = (row) => (row.state === "offered" ? "yes" : row.state === "withdrawn" ? "halt" : /yes|person|approv/.test(row.reason) ? "person" : "held");

// The server's reasons are sentences; a row has room for their beginning.
const shortReason = (reason) => (reason ?? "").replace(/^for a question about /, "class ").replace(/^not part of the first grant: /, "").replace(/^granted on request, or if the search is stuck$/, "if asked for, or stuck").replace(/^writes: needs a clear request, or a yes$/, "needs your yes").replace(/^all tools are withdrawn: this turn is/, "withdrawn");

export function Tools() {
  const view = useShown("panels");
  const [isOpen, setOpen] = useState(false);
  const tools = view?.tools ?? [];
  const offered = tools.filter((one) => one.state === "offered").length;
  const changes = view ? toolChanges(state.run.tools.filter((one) => one.step <= view.step)) : [];
  const rows = toolRows(tools, isOpen ? Infinity : ROWS - Math.min(2, changes.length));
  return html`<section class="grantpane" aria-labelledby="tools-heading">
    <h3 id="tools-heading">Tools ${tools.length ? html`<button class="plainlink" aria-expanded=${String(isOpen)} onClick=${() => setOpen(!isOpen)}>${`${offered} of ${tools.length} offered`}</button>` : null}</h3>
    <ul class="grants">
      ${rows.map((row) => html`<li key=${row.tools[0].name} class=${row.state} title=${`${row.tools.map((one) => one.name).join(", ")}: ${row.state}, ${row.reason}`}>
        <${Mark} name=${markFor(row)} label=${row.state} /><span><code>${row.tools[0].name}</code>${row.tools.length > 1 ? html` <small>+${row.tools.length - 1}</small>` : uses(row.tools[0])}</span><span class="why">${shortReason(row.reason)}</span></li>`)}
      ${changes.slice(-2).map((one) => html`<li key=${`${one.turn}${one.state}`} class="change" title=${one.names.join(", ")}><${Mark} name="info" /><span>turn ${one.turn}: <code>${one.names[0]}</code>${one.names.length > 1 ? html` <small>+${one.names.length - 1}</small>` : null}</span><span class="why">${one.state === "offered" ? "granted" : one.state}</span></li>`)}
    </ul>
    ${tools.length === 0 ? html`<p class="nothing">What it may use, and why.</p>` : null}
  </section>`;
}

const uses = (tool) => (tool.uses ? html` <small>${tool.uses}×</small>` : null);
