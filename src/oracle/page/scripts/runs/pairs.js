// The way into a comparison: pairs that are worth a look, so that nobody has to know two ids.
import { get } from "../api.js";
import { age } from "../format.js";
import { html, useEffect, useState } from "../html.js";
import { stopWords } from "../words.js";

const MOST = 6;

export function ChooseTwo() {
  const [pairs, setPairs] = useState([]);
  useEffect(() => {
    const none = () => null;
    Promise.all([get("/api/runs?limit=200").catch(none), get("/api/shadow").catch(none)]).then(([runs, shadow]) => setPairs(pairsOf(runs ?? [], shadow?.pairs ?? [])));
  }, []);
  return html`<div class="empty choose"><h1>Two runs, side by side.</h1>
    <p>Choose two in <a class="link" href="/runs">Runs</a>, and the decisions that differ are shown here.</p>
    ${pairs.length > 0 && html`<section class="tryout"><h2>Or begin with one of these</h2>
      <ul>${pairs.map((pair) => html`<li key=${pair.address}><a href=${pair.address}>${pair.question}</a><span>${pair.words}</span></li>`)}</ul></section>`}
  </div>`;
}

/** Two runs of one question, the newest first, and runs with their shadows. Pure. */
export function pairsOf(runs, shadows, most = MOST) {
  const asked = new Map();
  for (const run of runs.filter((one) => !one.is_live)) asked.set(run.question, [...(asked.get(run.question) ?? []), run]);
  const twice = [...asked.values()].filter((list) => list.length > 1).map(([newer, older]) => ({
    question: newer.question, address: `/compare/${older.id}/${newer.id}`, words: `asked twice: ${stopWords(older.stop_reason)}, ${stopWords(newer.stop_reason)}, ${age(newer.started_at)}`,
  }));
  const loops = shadows.map((one) => ({ question: one.question, address: `/compare/${one.run_id}/${one.shadow_run_id}`, words: "the tree and the plain loop" }));
  const half = Math.max(most - loops.length, Math.ceil(most / 2));
  return [...twice.slice(0, half), ...loops].slice(0, most);
}
