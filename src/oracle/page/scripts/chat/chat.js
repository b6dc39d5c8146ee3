// The conversation: the exchanges of one branch, the head that stays, and the field.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { state, touch, useStore } from "../store.js";
import { onKey } from "../keys.js";
import { watchRun } from "../watching.js";
import { Composer } from "./composer.js";
import { Exchange } from "./view.js";
import { coded } from "../coded.js";
import { holdWords, plural } from "../format.js";
import { stopWords } from "../words.js";
import { branchTo, holding } from "./exchange.js";
import { NEW, liveExchange, openCitationOf, showExchange } from "./asking.js";

/** Conversations up to this length are drawn at once; of longer ones, what is near. */
const EAGER = 30;
/** How near to its end a text must be to be followed. */
const NEAR = 60;
const UP = new Set(["ArrowUp", "PageUp", "Home"]);

export function Chat({ isRecording, foot }) {
  const { session } = useStore("session", "route", "playhead", "page");
  const scroll = useRef(null);
  const isFollowing = useRef(true);
  const wasLive = useRef(false);
  const lastTop = useRef(0);
  const isAimed = useRef(false); // what was asked for is shown until the reader moves
  const [isAway, setAway] = useState(false);
  const [head, setHead] = useState(null);
  const branch = session ? branchTo(session.exchanges, session.leaf) : [];

  useLayoutEffect(() => {
    const box = scroll.current;
    if (session?.goTo) {
      const article = box.querySelector(`[data-exchange="${CSS.escape(session.goTo)}"]`);
      // One question alone begins at the top; any other is brought there.
      if (article && branch.length > 1) article.scrollIntoView({ block: "start" });
      // Its name changes when its run begins: what is written is followed under any name.
      isFollowing.current = Boolean(session.exchanges.get(session.goTo)?.isLive);
      if (article) {
        isAimed.current = true;
        session.goTo = null;
      }
    } else if (isFollowing.current && (liveExchange() || wasLive.current)) {
      box.scrollTop = box.scrollHeight; // the end of an answer, too, is brought into view
    }
    wasLive.current = Boolean(liveExchange());
  });

  const look = () => {
    const box = scroll.current;
    const isNear = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
    // Text that grows leaves the end behind for a moment. Only a reader who goes up leaves it.
    if (isNear) isFollowing.current = true;
    else if (box.scrollTop < lastTop.current) isFollowing.current = false;
    lastTop.current = box.scrollTop;
    setAway(!isNear && !isFollowing.current);
    const shown = inView(box, isNear);
    setHead(shown && shown.isPast ? shown.id : null);
    if (shown && session && session.shown !== shown.id && !isAimed.current) {
      session.shown = shown.id;
      touch("session");
    }
  };
  useEffect(() => {
    scroll.current.addEventListener("scroll", look, { passive: true });
    look();
    return () => scroll.current?.removeEventListener("scroll", look);
  }, [session, branch.length]);

  useEffect(() => {
    const moves = (event) => {
      isAimed.current = false;
      // The scrolling itself comes later, and text that comes between would take it back.
      const isUp = event.type === "wheel" ? event.deltaY < 0 : UP.has(event.key);
      if (isUp && scroll.current.contains(event.target)) isFollowing.current = false;
    };
    const ends = ["wheel", "touchmove", "pointerdown", "keydown"].map((type) => {
      addEventListener(type, moves, { capture: true, passive: true });
      return () => removeEventListener(type, moves, { capture: true });
    });
    return () => ends.forEach((end) => end());
  }, []);

  useWatching(session);
  useKeys(branch, session);
  const drawn = useDrawn(session, branch.length <= EAGER, branchCounts(session));
  const stuck = head && session?.exchanges.get(head);
  return html`<main class="chat" aria-label="Conversation" id="answer" tabindex="-1">
    ${stuck && html`<div class="stuck" aria-hidden="true"><p>${stuck.question}</p><p class="meta">${headFacts(stuck)}</p></div>`}
    <div class="scroll" ref=${scroll} tabindex="-1">
      ${session?.problem && html`<${Lost} session=${session} />`}
      ${session?.isOpening && html`<${Opening} />`}
      ${branch.map(drawn)}
    </div>
    <p class="vh" role="status">${announced(branch)}</p>
    <div class="dock">
      ${isAway && liveExchange() && html`<button type="button" class="to-end" onClick=${() => toEnd(scroll.current)}>To the end</button>`}
      ${isRecording ? foot : html`<${Composer} />`}
    </div>
  </main>`;
}

/** An exchange that has not changed keeps its drawing: a long conversation costs no more than its last answer. */
function useDrawn(session, isEager, counts) {
  const known = useRef(new Map());
  return (exchange) => {
    const step = state.run?.id === exchange.runId ? state.playhead.step : null;
    const facts = [session.id, exchange.id, exchange.version, exchange.isLive, exchange.problem, step, counts.get(exchange.parentId), isEager, Boolean(state.page)].join("|");
    const old = known.current.get(exchange);
    if (old?.facts === facts) return old.drawing;
    const drawing = html`<${Exchange} key=${exchange.createdAt} exchange=${exchange} session=${session} isEager=${isEager} />`;
    known.current.set(exchange, { facts, drawing });
    return drawing;
  };
}

/** How many questions follow each exchange. */
function branchCounts(session) {
  const counts = new Map();
  for (const { parentId } of session?.exchanges.values() ?? []) counts.set(parentId, (counts.get(parentId) ?? 0) + 1);
  return counts;
}

/** For those who listen: the text is silent while it is written, and its end is said. */
function announced(branch) {
  const last = branch.at(-1);
  if (!last?.done) return "";
  const { of, hold } = holding(last);
  const told = [`${sentenceCase(stopWords(last.stopReason))}.`, `${plural(last.usage?.turns ?? 1, "turn")}${of ? `, ${holdWords(hold, of)}` : ""}.`];
  return told.join(" ");
}

const sentenceCase = (text) => text[0].toUpperCase() + text.slice(1);

const toEnd = (box) => box.scrollTo({ top: box.scrollHeight, behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });

function headFacts(exchange) {
  const facts = [];
  if (exchange.kind) facts.push(`${exchange.kind.type} question, ${exchange.kind.confidence.toFixed(2)}`);
  const steps = exchange.turns.length - 1;
  if (steps > 0) facts.push(`${steps} ${steps === 1 ? "step" : "steps"} folded`);
  return facts.map((fact) => html`<span key=${fact}>${fact}</span>`);
}

/**
 * The exchange that fills the upper half, and whether its question has left at the top. They lie below each other, so
 * few are looked at; and only of the one that is found the inside, because of the others the browser has not made it.
 */
function inView(box, isAtEnd) {
  const top = box.getBoundingClientRect().top;
  const limit = top + box.clientHeight / 2;
  const articles = box.querySelectorAll("[data-exchange]");
  let [low, high] = [0, articles.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (articles[middle].getBoundingClientRect().top > limit) high = middle; else low = middle + 1;
  }
  // At the end the newest is what one reads, also if it is short and an earlier one fills the upper half.
  const article = isAtEnd ? articles[articles.length - 1] : articles[low - 1];
  if (!article) return null;
  const question = article.firstElementChild.getBoundingClientRect();
  return { id: article.dataset.exchange, isPast: question.bottom < top + 8 && article.getBoundingClientRect().bottom > top + 90 };
}

/** The mind follows the exchange in view, once the reader has stopped there. */
function useWatching(session) {
  const shown = session?.exchanges.get(session.shown);
  const runId = shown && shown.id !== NEW ? shown.runId : undefined;
  useEffect(() => {
    if (!session || runId === undefined) return undefined;
    const timer = setTimeout(() => watchRun(runId), state.run ? 150 : 0);
    return () => clearTimeout(timer);
  }, [runId]);
  // A link to a citation opens it as soon as the citations are known.
  const { citation: wanted, exchange } = state.route;
  const linked = session?.exchanges.get(exchange) ?? shown;
  useEffect(() => {
    if (wanted && linked?.citations && session.openedFor !== `${linked.id}:${wanted}`) {
      session.openedFor = `${linked.id}:${wanted}`;
      openCitationOf(linked, wanted);
    }
  }, [wanted, linked?.citations]);
}

function useKeys(branch, session) {
  const at = branch.findIndex((one) => one.id === session?.shown);
  useEffect(() => {
    const to = (index) => {
      const exchange = branch[Math.max(0, Math.min(branch.length - 1, index))];
      if (!exchange) return false;
      showExchange(exchange.id);
      document.querySelector(`[data-exchange="${CSS.escape(exchange.id)}"]`)?.focus({ preventScroll: true });
      return true;
    };
    const ends = [
      onKey("j", () => to(at + 1)),
      onKey("k", () => to(at - 1)),
      onKey("c", () => {
        const text = branch[at]?.answer;
        return text ? void navigator.clipboard.writeText(text) : false;
      }),
    ];
    return () => ends.forEach((end) => end());
  }, [branch.length, at]);
}

function Opening() {
  return html`<div class="opening" aria-hidden="true"><span class="bone wide"></span><span class="bone"></span><span class="bone"></span></div>`;
}

function Lost({ session }) {
  const missing = session.recording ? "There is no such run." : "There is no such conversation.";
  const heads = { 401: "A token is needed.", 403: "This token does not allow it.", 404: missing };
  return html`<div class="empty"><h2>${heads[session.status] ?? "The server does not answer."}</h2><p>${coded(session.problem)}</p><p><a class="link" href="/">Ask a new question</a>${session.recording ? html` or look at the <a class="link" href="/runs">runs</a>` : ""}</p></div>`;
}
