// Narrow screens: one pane at a time, tabs below, and while a run is live a strip that says the sentence.
import { html } from "../html.js";
import { set, state, useStore } from "../store.js";
import { go } from "../router.js";
import { count } from "../format.js";
import { useWidth } from "./width.js";
import { Brand, Icon } from "../icons.js";
import { viewAt } from "../mind/reduce.js";
import { sentenceOf } from "../mind/sentence.js";
import { liveExchange, stop } from "../chat/asking.js";

export function Tabs() {
  const { route, tab } = useStore("route", "tab", "session", "run", "connection");
  const isNarrow = ["phone", "tablet"].includes(useWidth());
  const isRuns = route.name === "runs";
  const current = isRuns ? "runs" : ["ask", "run"].includes(route.name) ? tab : null;
  const show = (name) => () => {
    if (isRuns && name !== "runs") go(state.session?.id ? `/s/${state.session.id}` : "/");
    set({ tab: name });
  };
  return html`
    ${isNarrow && html`<${Strip} />`}
    <nav class="tabs" aria-label="Panes">
      <button type="button" aria-current=${current === "answer" ? "true" : undefined} onClick=${show("answer")}><${Icon} name="sessions" size=${20} />Answer</button>
      <button type="button" aria-current=${current === "mind" ? "true" : undefined} onClick=${show("mind")}><${Brand} size=${20} />Mind</button>
      <button type="button" aria-current=${current === "runs" ? "true" : undefined} onClick=${() => go("/runs")}><${Icon} name="lines" size=${20} />Runs</button>
    </nav>`;
}

function Strip() {
  const live = liveExchange();
  if (!live || state.route.name === "runs") return null;
  const view = state.run && viewAt(state.run);
  const head = view ? sentenceOf(state.run, view, state.connection).head : "Working.";
  return html`<div class="strip"><i></i><p><b>${head}</b><span>${view ? turnWords(view) : ""}</span></p>
    <button type="button" class="button plain" data-act="stop" disabled=${live.isStopping} onClick=${stop}><span class="stop-square"></span>Stop</button></div>`;
}

/** "turn 3 of 30, 14,453 tokens": short enough for a phone, where the whole sentence is one tab away. */
function turnWords({ turn, budgets }) {
  const limit = budgets.find((one) => one.name === "turns")?.limit;
  const used = budgets.find((one) => one.name === "tokens")?.used;
  return [turn && `turn ${turn}${limit ? ` of ${limit}` : ""}`, used > 0 && `${count(used)} tokens`].filter(Boolean).join(", ");
}
