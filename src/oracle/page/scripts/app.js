// The page begins here: addresses, keys, and the frame around the panes.
import { html, render, useEffect } from "./html.js";
import { set, state, subscribe, useStore } from "./store.js";
import { get } from "./api.js";
import * as keys from "./keys.js";
import * as router from "./router.js";
import { Icon } from "./icons.js";
import { Bar } from "./frame/bar.js";
import { Rail } from "./frame/rail.js";
import { Tabs } from "./frame/tabs.js";
import { Dialogs } from "./frame/dialogs.js";
import { Sessions } from "./sessions/panel.js";
import { listSessions } from "./sessions/listing.js";
import { Chat } from "./chat/chat.js";
import { FirstVisit } from "./first.js";
import { Recording } from "./runs/recording.js";
import { ChooseTwo } from "./runs/pairs.js";
import { Runs } from "./runs/runs.js";
import { Mind } from "./mind/mind.js";
import { Sources } from "./mind/sources.js";
import { Compare } from "./mind/compare.js";
import { Trees } from "./mind/trees.js";
import { liveExchange, openSession, stop } from "./chat/asking.js";
import { watchRun } from "./watching.js";
import { useWidth } from "./frame/width.js";

function App() {
  const { route, session, isMindHidden, citation, stage, tab } = useStore("route", "session", "isMindHidden", "citation", "stage", "tab");
  const width = useWidth();
  useEffect(() => follow(route), [route]);
  const isTalk = route.name === "ask" && (route.session || session);
  const isBeside = width === "ultra" && (isTalk || route.name === "run") && citation !== null && stage === "sources" && !isMindHidden;
  const kind = ["frame", `is-${width}`, frameOf(route, isTalk), isBeside && "is-beside", isTalk && isMindHidden && "is-mindless", `tab-${tab}`];
  return html`
    <a class="skip-link" href="#answer">Skip to the answer</a>
    ${(isTalk || route.name === "run") && !isMindHidden && html`<a class="skip-link" href="#mind">Skip to the mind</a>`}
    <div class=${kind.filter(Boolean).join(" ")}>
      <${Bar} />
      <${Rail} />
      <${Sessions} />
      ${panes(route, { isTalk, isBeside, isMindHidden, width })}
      <${Tabs} />
    </div>
    <${Dialogs} />`;
}

function frameOf(route, isTalk) {
  if (route.name === "run" || isTalk) return "is-talk";
  return route.name === "ask" ? "is-first" : "is-alone";
}

function panes(route, { isTalk, isBeside, isMindHidden, width }) {
  if (route.name === "runs") return html`<main class="alone" id="answer" tabindex="-1" aria-label="Runs"><${Runs} /></main>`;
  if (route.name === "compare") return html`<main class="alone" id="answer" tabindex="-1" aria-label="Comparison">${route.a ? html`<${Compare} a=${route.a} b=${route.b} />` : html`<${ChooseTwo} />`}</main>`;
  if (route.name === "trees") return html`<main class="alone" id="answer" tabindex="-1" aria-label="Trees"><${Trees} name=${route.tree} /></main>`;
  if (route.name === "lost") return html`<main class="alone" id="answer" tabindex="-1"><div class="empty"><h1>Nothing is at this address.</h1><p><a class="link" href="/">Ask a question</a> or look at the <a class="link" href="/runs">runs</a>.</p></div></main>`;
  const mind = !isMindHidden && html`<${Mind} />`;
  const beside = isBeside && html`<aside class="beside-pane" aria-label="Sources"><header class="beside-head"><h2>Sources</h2><button type="button" class="icon" aria-label="Close sources" onClick=${() => set({ citation: null, stage: "tree" })}><${Icon} name="close" /></button></header><${Sources} beside=${true} /></aside>`;
  if (route.name === "run") return html`<${Recording} id=${route.run} />${beside}${mind}`;
  if (isTalk) return html`<${Chat} />${beside}${mind}`;
  return html`<${FirstVisit} width=${width} />`;
}

/** What an address asks for. */
function follow(route) {
  if (route.name === "ask" && route.session) openSession(route.session, route.exchange);
  else if (route.name === "ask" && (state.session?.id || state.session?.recording)) set({ session: null });
  if (route.name === "run") watchRun(route.run);
  else if (route.name !== "ask") watchRun(null);
  document.title = titleOf(route);
}

function titleOf(route) {
  const names = { ask: "oracle", runs: "Runs · oracle", run: "A run · oracle", compare: "Compare · oracle", trees: "Trees · oracle", lost: "oracle" };
  return names[route.name];
}

/** From this width on, sessions stay open beside the conversation. */
const PINNED = 2300;
const FIRST_WAIT = 1000; // milliseconds until a server that is gone is asked again
const LONGEST_WAIT = 15_000;
/** What changes seldom is shown as it was, until the server has answered. */
const LAST_KNOWN = "oracle.page";

function lastKnown() {
  try {
    return JSON.parse(localStorage.getItem(LAST_KNOWN));
  } catch {
    return null;
  }
}

export async function loadPage() {
  try {
    const page = await get("/api/page");
    const { project, model, tree } = page;
    localStorage.setItem(LAST_KNOWN, JSON.stringify({ project, model, tree }));
    set({ page });
    // The index is made while one looks: the count goes on until it is there.
    if (page.index && !page.index.is_ready && !page.index.problem) setTimeout(loadPage, 1500);
  } catch {
    // The bar says that the server does not answer.
  }
}

/** A server that did not answer is asked again, until it does. Nobody has to press Retry. */
function comeBack() {
  let timer = null;
  let wait = FIRST_WAIT;
  const again = () => {
    clearTimeout(timer);
    if (state.connection === "up") wait = FIRST_WAIT;
    if (state.connection !== "gone") return;
    timer = setTimeout(loadPage, wait);
    wait = Math.min(wait * 2, LONGEST_WAIT);
  };
  subscribe(["connection"], again);
  addEventListener("online", () => state.connection === "gone" && loadPage());
}

function listenToKeys() {
  keys.listen();
  keys.onKey("?", () => set({ dialog: state.dialog === "keys" ? null : "keys" }));
  keys.onKey("m", () => set({ isMindHidden: !state.isMindHidden }));
  keys.onKey("g a", () => router.go(state.session?.id ? `/s/${state.session.id}` : "/"));
  keys.onKey("g r", () => router.go("/runs"));
  keys.onKey("g c", () => router.go("/compare"));
  keys.onKey("g t", () => router.go("/trees"));
  keys.onKey("t", () => set({ stage: "tree" }));
  keys.onKey("s", () => set({ stage: "sources" }));
  keys.onKey("Escape", escape);
}

/** Close what is open, the last thing first; with nothing open, stop the run. */
function escape() {
  if (state.panel && innerWidth < PINNED) return set({ panel: null });
  if (state.node) return set({ node: null });
  if (state.citation !== null) return set({ citation: null, stage: "tree" });
  if (!liveExchange()) return document.activeElement?.blur();
  return stop();
}

router.listen();
if (innerWidth >= PINNED && state.route.session) set({ panel: "sessions" });
listenToKeys();
set({ page: lastKnown() });
comeBack();
loadPage();
listSessions("");
const place = document.getElementById("page");
place.replaceChildren(); // the empty frame that was there before the scripts
render(html`<${App} />`, place);
