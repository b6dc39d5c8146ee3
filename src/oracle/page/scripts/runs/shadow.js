// The shadow comparison: the gate's table. A row a measure: two bars, two figures, a mark.
import { html, useEffect, useState } from "../html.js";
import { get } from "../api.js";
import { plural } from "../format.js";
import { Mark } from "../marks.js";

export function Shadow() {
  const [table, setTable] = useState(null);
  useEffect(() => {
    get("/api/shadow").then(setTable).catch(() => {});
  }, []);
  if (!table?.compared) return null;
  const counted = table.rows.filter((row) => row.is_counted);
  const worse = counted.filter((row) => !row.is_kept).length;
  return html`<section class="pairs" aria-labelledby="shadow-title">
    <header class="listhead"><h2 id="shadow-title">Shadow</h2>
      <p>The plain loop and the tree, on the same ${table.questions === 1 ? "question" : plural(table.questions, "question")}.</p>
      <span class="right">${table.passed
        ? html`<span class="ended"><${Mark} name="yes" />as good or better on every measure</span>`
        : html`<span class="ended is-scarce"><${Mark} name="halt" />worse on ${plural(worse, "measure")}</span>`}</span>
    </header>
    <${Measures} rows=${table.rows} />
    ${table.pairs?.length > 0 && html`<p class="listhead"><span>Side by side:</span>${table.pairs.slice(0, 8).map((pair) => html`<a key=${pair.run_id} class="chip" href=${`/compare/${pair.run_id}/${pair.shadow_run_id}`} title=${pair.question}>${pair.run_id.slice(0, 8)}</a>`)}</p>`}
  </section>`;
}

/** The gate's table: of many pairs, or of one. */
export function Measures({ rows }) {
  return html`<table aria-label="Measures of both loops"><thead><tr><th>measure</th><th><span class="vh">both as bars</span></th><th class="r"><i class="sw a"></i>plain loop</th><th class="r"><i class="sw b"></i>tree</th><th><span class="vh">kept</span></th></tr></thead>
    <tbody>${rows.map((row) => html`<${Row} key=${row.name} row=${row} />`)}</tbody></table>`;
}

function Row({ row }) {
  const most = Math.max(row.baseline, row.tree) || 1;
  const shown = (value) => value.toLocaleString("en", { minimumFractionDigits: row.digits, maximumFractionDigits: row.digits });
  const label = !row.is_counted ? null : row.is_kept ? "as good or better" : "worse";
  return html`<tr>
    <td>${row.name}${row.allowed > 1 && html`<small>within ${Math.round((row.allowed - 1) * 100)} %</small>`}${!row.is_counted && html`<small>not counted</small>`}</td>
    <td class="bar-cell"><svg class="bars" viewBox="0 0 240 16" preserveAspectRatio="none" aria-hidden="true"><rect class="pa" y="2" height="5" rx="2" width=${(240 * row.baseline) / most} /><rect class="pb" y="9" height="5" rx="2" width=${(240 * row.tree) / most} /></svg></td>
    <td class="r">${shown(row.baseline)}</td><td class="r"><b>${shown(row.tree)}</b></td>
    <td>${label && html`<${Mark} name=${row.is_kept ? "yes" : "halt"} label=${label} />`}</td>
  </tr>`;
}
