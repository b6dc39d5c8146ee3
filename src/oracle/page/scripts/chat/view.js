// One exchange: the question as a heading, a line of facts, the steps, the answer, the end.
import { html, useEffect, useRef, useState } from "../html.js";
import { state } from "../store.js";
import { Mark } from "../marks.js";
import { Icon } from "../icons.js";
import { coded } from "../coded.js";
import { plural } from "../format.js";
import { Approval } from "./approval.js";
import { Closing } from "./closing.js";
import { Prose } from "./prose.js";
import { Steps } from "./steps.js";
import { askAnew, hear, openCitationOf, retry, showExchange } from "./asking.js";
import { newestBelow, siblingsOf } from "./exchange.js";

export function Exchange({ exchange, session, isEager }) {
  const element = useRef(null);
  const [isNear, setNear] = useState(isEager || exchange.isLive);
  // What a run did is fetched when its exchange comes near: a long conversation opens at once.
  useEffect(() => {
    const near = new IntersectionObserver((seen) => {
      if (!seen.some((one) => one.isIntersecting)) return;
      setNear(true);
      hear(session, exchange);
    }, { rootMargin: "800px 0px" });
    near.observe(element.current);
    return () => near.disconnect();
  }, [exchange.runId]);

  const moment = momentOf(exchange);
  const { turns, text, isWriting, isWhole } = moment;
  const notices = exchange.notices.filter((one) => one.severity !== "info" && one.turn <= moment.turn);
  return html`<article ref=${element} id=${exchange.id} data-exchange=${exchange.id} tabindex="-1"
      class=${`exchange${exchange.isLive ? " is-live" : ""}`} aria-labelledby=${`q-${exchange.id}`}>
    <h2 class=${`question${exchange.question.length > 160 ? " is-long" : ""}`} id=${`q-${exchange.id}`}>${exchange.question}</h2>
    <${Facts} exchange=${exchange} session=${session} />
    <${Steps} turns=${turns} isLive=${exchange.isLive} expected=${expectedSteps(exchange)} />
    ${exchange.approvals.map((one) => html`<${Approval} key=${one.id} exchange=${exchange} approval=${one} />`)}
    ${isNear && (text || isWriting) ? html`<${Prose} text=${text} citations=${isWhole ? exchange.citations : null} isWriting=${isWriting} exchangeId=${exchange.id} onOpen=${(number) => openCitationOf(exchange, number)} />` : null}
    ${notices.map((one, index) => html`<p key=${index} class=${`note${one.severity === "warning" ? " is-scarce" : ""}`}><${Mark} name=${one.severity === "warning" ? "halt" : "info"} /><span>${one.text}</span></p>`)}
    ${exchange.problem && html`<p class="note is-broken" role="alert"><${Mark} name="err" /><span>${coded(exchange.problem)} ${exchange.isOrphan ? html`<button type="button" class="link" onClick=${() => askAnew(exchange)}>Ask in a new conversation</button>` : html`<button type="button" class="link" onClick=${() => retry(exchange)}>Ask again</button>`}</span></p>`}
    ${isWhole && exchange.stopReason && html`<${Closing} exchange=${exchange} />`}
  </article>`;
}

/** How many steps a run had that has not told all of it yet: they have a place, so that the answer does not move. */
function expectedSteps({ isLive, runId, done, usage }) {
  return !isLive && runId && !done ? Math.max(0, (usage?.turns ?? 1) - 1) : 0;
}

/** What is shown: all of it, or what there was at the playhead if the mind plays this run. */
function momentOf(exchange) {
  const { run, playhead } = state;
  const last = exchange.turns.at(-1);
  const isAnswer = (turn) => turn && turn === last && !turn.calls.length && turn.outcome !== "draft";
  if (run?.id === exchange.runId && playhead.step !== null && playhead.step < run.steps.length) {
    const turn = run.steps[Math.max(0, playhead.step - 1)]?.turn ?? 0;
    const turns = exchange.turns.filter((one) => one.turn <= turn && !(isAnswer(one) && exchange.done));
    const written = run.texts?.findLast((one) => one.step <= playhead.step && one.turn === last?.turn);
    const text = written && isAnswer(last) ? last.text.slice(0, written.length) : "";
    return { turn, turns, text, isWriting: Boolean(text), isWhole: false };
  }
  const isWhole = !exchange.isLive;
  return {
    turn: Infinity,
    turns: exchange.turns.filter((turn) => !isAnswer(turn)),
    text: isWhole ? (exchange.answer ?? exchange.text) : exchange.text.trimStart(),
    isWriting: exchange.isLive && Boolean(exchange.text.trim()),
    isWhole,
  };
}

function Facts({ exchange, session }) {
  const { kind } = exchange;
  const turn = exchange.turns.at(-1);
  return html`<p class="meta">
    ${kind && html`<span>${kind.type} question, ${kind.confidence.toFixed(2)}</span>`}
    ${kind?.tools?.length > 0 && html`<span>${plural(Math.max(kind.tools.length, ...exchange.turns.map((one) => one.offered ?? 0)), "tool")} offered</span>`}
    ${exchange.isLive && html`<span>${turn ? `turn ${turn.turn}` : "beginning"}</span>`}
    <${Branches} exchange=${exchange} session=${session} />
  </p>`;
}

/** Other questions that follow the same exchange. */
function Branches({ exchange, session }) {
  const siblings = siblingsOf(session.exchanges, exchange);
  if (siblings.length < 2) return null;
  const place = siblings.indexOf(exchange);
  const to = (other) => (event) => {
    event.preventDefault();
    if (other) showExchange(newestBelow(session.exchanges, other.id) && other.id);
  };
  const link = (other, icon, label) => html`<a href=${other ? `/s/${session.id}#${other.id}` : undefined} role="link" aria-disabled=${other ? "false" : "true"} aria-label=${label} onClick=${to(other)}><${Icon} name=${icon} size=${12} /></a>`;
  return html`<span class="branches" data-branches>
    ${link(siblings[place - 1], "left", "Previous branch")}<span>branch ${place + 1} of ${siblings.length}</span>${link(siblings[place + 1], "right", "Next branch")}
  </span>`;
}
