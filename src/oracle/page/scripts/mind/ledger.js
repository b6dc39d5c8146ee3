// How much: a track for each budget, with what is kept for the answer.
import { count, money } from "../format.js";
import { html } from "../html.js";
import { useShown } from "./shown.js";

const WARNING = 0.7;
const FORMATS = { seconds: (value) => (value < 100 ? value.toFixed(1) : count(value)), money: (value) => money(value) || "$0" };
const shownAs = (name, value) => (FORMATS[name] ?? count)(value);

/** What a track shows, in shares of 1. Pure. */
export function trackOf({ used, limit, reserve = 0, expected = 0 }) {
  const share = (value) => Math.max(0, Math.min(1, limit > 0 ? value / limit : 0));
  const kept = share(reserve);
  return { used: share(used), expected: Math.min(share(expected), 1 - share(used)), reserve: kept, isAtReserve: reserve > 0 && used + reserve >= limit };
}

export function Ledger() {
  const view = useShown("panels");
  const budgets = (view?.budgets ?? []).toSorted((a, b) => Boolean(a.off) - Boolean(b.off)); // what is off comes last
  const hasReserve = budgets.some((one) => one.reserve > 0);
  // The tools go with the next turn, not at once.
  const scarcity = view?.tools?.some((one) => one.state === "offered") ? "reserve left" : "tools withdrawn";
  return html`<section class="ledger" aria-labelledby="ledger-heading">
    <h3 id="ledger-heading">Ledger <span>${hasReserve ? "hatched: kept for the answer" : ""}</span></h3>
    <div class="gauges">${budgets.map((budget) => html`<${Gauge} key=${budget.name} budget=${budget} isLive=${view.isLive} scarcity=${scarcity} />`)}</div>
    ${budgets.length === 0 ? html`<p class="nothing">What a run may spend, and has.</p>` : null}
  </section>`;
}

function Gauge({ budget, isLive, scarcity }) {
  const { name, used, limit, reserve, off } = budget;
  if (off) return html`<div class="gauge off"><span class="what">${name}</span><span class="value">off, ${off.replace(/^off,? ?/, "")}</span></div>`;
  if (!limit) return html`<div class="gauge off"><span class="what">${name}</span><span class="value"><b>${shownAs(name, used ?? 0)}</b>, no limit</span></div>`;
  const track = trackOf(budget);
  const percent = (share) => `${(share * 100).toFixed(2)}%`;
  const words = `${shownAs(name, used)} of ${shownAs(name, limit)} ${name}${reserve ? `, ${shownAs(name, reserve)} kept for the answer` : ""}${track.isAtReserve ? `, ${scarcity}` : ""}`;
  return html`<div class=${`gauge${track.isAtReserve ? " scarce" : ""}`}>
    <span class="what">${name}</span>
    <div class="track" role="meter" aria-label=${name} aria-valuemin="0" aria-valuemax=${limit} aria-valuenow=${used} aria-valuetext=${words} title=${words}>
      <i class="used" style=${{ width: percent(track.used) }}></i>
      ${isLive && track.expected > 0 ? html`<i class="expected" style=${{ left: percent(track.used), width: percent(track.expected) }}></i>` : null}
      <i class="warn" style=${{ left: percent(WARNING) }}></i>
      ${track.reserve > 0 ? html`<i class="reserve" style=${{ width: `max(8px, ${percent(track.reserve)})` }}></i>` : null}
    </div>
    <span class="value">${track.isAtReserve ? html`<em>${scarcity}</em>` : null}<b>${shownAs(name, used)}</b> / ${shownAs(name, limit)}</span>
  </div>`;
}
