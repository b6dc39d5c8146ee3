// The runs of this project. Two that are chosen can be compared.
import { html, useEffect, useMemo, useRef, useState } from "../html.js";
import { get } from "../api.js";
import { onKey } from "../keys.js";
import { go } from "../router.js";
import { state, useStore } from "../store.js";
import { age, count, seconds } from "../format.js";
import { endOf, stopWords } from "../words.js";
import { Icon } from "../icons.js";
import { Mark, SignalMark } from "../marks.js";
import { Shadow } from "./shadow.js";

const LOOKS = 4000; // milliseconds between two looks while a run is under way

export function Runs() {
  useStore("connection");
  const runs = useRuns();
  const [text, setText] = useState("");
  const [kind, setKind] = useState("all");
  const [chosen, setChosen] = useState([]);
  const rows = useMemo(() => (runs ?? []).filter((run) => fits(run, text) && KINDS[kind](run)), [runs, text, kind]);
  const body = useRef(null);

  const choose = (id) => setChosen(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id].slice(-2));
  const compare = () => chosen.length === 2 && go(`/compare/${chosen[0]}/${chosen[1]}`);
  useEffect(() => onKey("c", () => (chosen.length === 2 ? compare() : false)), [chosen.join()]);
  useEffect(() => {
    const ends = [onKey("j", () => step(body.current, 1)), onKey("k", () => step(body.current, -1))];
    return () => ends.forEach((end) => end());
  }, []);

  const tabs = [["all", `All ${runs?.length ?? ""}`], ["open", `Not answered ${(runs ?? []).filter(KINDS.open).length || ""}`]];
  if ((runs ?? []).some(KINDS.replays)) tabs.push(["replays", "Replays"]);
  return html`<div class="runs">
    <header class="listhead"><h1>Runs</h1>
      <label class="search"><${Icon} name="search" size=${14} /><span class="vh">Find runs</span><input type="search" placeholder="question, stop reason, id…" value=${text} onInput=${(event) => setText(event.target.value)} /></label>
      <span class="seg" role="group" aria-label="Which runs">${tabs.map(([name, label]) => html`<button type="button" key=${name} aria-pressed=${kind === name ? "true" : "false"} onClick=${() => setKind(name)}>${label}</button>`)}</span>
      <span class="right"><span role="status">${chosen.length ? `${chosen.length} chosen` : "choose two to compare"}</span>
        <button type="button" class="button" disabled=${chosen.length !== 2} onClick=${compare}>Compare<kbd>c</kbd></button></span>
    </header>
    ${runs?.length === 0 ? html`<${NoRuns} />` : html`<table aria-label="Runs"><thead><tr><th><span class="vh">chosen</span></th><th>question</th><th>ended</th><th>signals</th><th class="r">turns</th><th class="r">tokens</th><th class="r">time</th><th class="r">citations</th><th class="r">begun</th></tr></thead>
      <tbody ref=${body}>${rows.map((run) => html`<${Row} key=${run.id} run=${run} isChosen=${chosen.includes(run.id)} choose=${() => choose(run.id)} />`)}</tbody></table>`}
    ${runs?.length > 0 && !rows.length && html`<p class="empty">No run has these words.</p>`}
    ${runs && html`<${Shadow} />`}
  </div>`;
}

const KINDS = {
  all: () => true,
  open: (run) => !run.is_live && run.stop_reason !== "answered",
  replays: (run) => Boolean(run.replay_of),
};

function fits(run, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const all = `${run.question} ${run.stop_reason ?? ""} ${stopWords(run.stop_reason)} ${run.id} ${(run.signals ?? []).join(" ")}`.toLowerCase();
  return words.every((word) => all.includes(word));
}

/** The newest runs, looked at again while one of them is under way. */
function useRuns() {
  const [runs, setRuns] = useState(state.runs ?? null);
  useEffect(() => {
    let timer = null;
    let isGone = false;
    const look = async () => {
      try {
        const found = await get("/api/runs?limit=200");
        if (isGone) return;
        state.runs = found;
        setRuns(found);
        if (found.some((run) => run.is_live)) timer = setTimeout(look, LOOKS);
      } catch {
        // The bar says that the server does not answer.
      }
    };
    look();
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [state.connection]);
  return runs;
}

function Row({ run, isChosen, choose }) {
  const { usage } = run;
  const short = run.id.slice(0, 8);
  return html`<tr aria-selected=${isChosen ? "true" : "false"}>
    <td class="check-cell"><input type="checkbox" class="box" checked=${isChosen} onChange=${choose} aria-label=${`Choose ${short}: ${run.question}`} /></td>
    <td class="q"><a href=${`/runs/${run.id}`}>${run.question}</a><code>${short}</code></td>
    <td><${Ended} run=${run} /></td>
    <td><span class="signals">${(run.signals ?? []).map((type, index) => html`<${SignalMark} key=${index} type=${type} size=${13} label=${type} />`)}</span></td>
    <td class="r" data-label="turns">${usage?.turns ?? ""}</td>
    <td class="r" data-label="tokens">${usage ? count(usage.tokens) : ""}</td>
    <td class="r">${usage ? seconds(took(run)) : ""}</td>
    <td class="r" data-label="hold">${run.citations?.of ? `${run.citations.hold} of ${run.citations.of}` : ""}</td>
    <td class="r">${age(run.started_at)}</td>
  </tr>`;
}

const took = (run) => (run.ended_at ? run.ended_at - run.started_at : run.usage.seconds);

function Ended({ run }) {
  if (run.is_live) return html`<span class="ended is-live"><${Mark} name="run" />running</span>`;
  const { tone, mark } = endOf(run.stop_reason);
  return html`<span class=${`ended is-${tone}`}><${Mark} name=${mark} />${stopWords(run.stop_reason)}</span>`;
}

/** The focus goes to the next row's question. */
function step(body, by) {
  const links = [...(body?.querySelectorAll("td.q a") ?? [])];
  if (!links.length) return false;
  const at = links.indexOf(document.activeElement);
  links[Math.max(0, Math.min(links.length - 1, at < 0 ? 0 : at + by))].focus();
  return true;
}

function NoRuns() {
  return html`<div class="empty"><h2>No runs yet.</h2><p>Each question becomes one. <a class="link" href="/">Ask the first</a>.</p></div>`;
}
