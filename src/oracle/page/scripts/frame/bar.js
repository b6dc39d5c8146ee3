// The bar: where one is, the pages, the model, light or dark, the keys.
import { html } from "../html.js";
import { set, state, useStore } from "../store.js";
import { Brand, Icon } from "../icons.js";
import { loadPage } from "../app.js";
import { liveExchange } from "../chat/asking.js";
import { coded } from "../coded.js";
import { connectionWords } from "../words.js";

export function Bar() {
  const { route, page } = useStore("route", "page", "session", "connection");
  const current = { run: "runs", trees: "trees" }[route.name] ?? route.name;
  const link = (name, path, text) => html`<a href=${path} aria-current=${current === name ? "page" : undefined}>${text}</a>`;
  return html`<header class="bar">
    <a class="brand" href="/" aria-label="oracle, a new question"><${Brand} /><span>oracle</span></a>
    <div class="crumb"><${Crumb} route=${route} page=${page} /><${Connection} /></div>
    <nav aria-label="Pages">
      ${link("ask", state.session?.id && route.name !== "ask" ? `/s/${state.session.id}` : "/", "Ask")}${link("runs", "/runs", "Runs")}${link("compare", "/compare", "Compare")}${link("trees", "/trees", "Trees")}
    </nav>
    <span class="tools">
      ${page?.model && html`<button type="button" class="chip model" title=${page.model.meaning ?? ""} onClick=${() => set({ dialog: "model" })}>${page.model.is_configured ? page.model.name : "built-in reader"}</button>`}
      <button type="button" class="icon" aria-label="Light or dark" onClick=${() => dispatchEvent(new Event("oracle:theme"))}><${Icon} name="theme" /></button>
      <button type="button" class="icon keys" aria-label="Keyboard shortcuts" onClick=${() => set({ dialog: "keys" })}><${Icon} name="keys" /></button>
      <button type="button" class="icon sessions-button" aria-label="Sessions" aria-expanded=${state.panel ? "true" : "false"} onClick=${() => set({ panel: state.panel ? null : "sessions" })}><${Icon} name="lines" /></button>
    </span>
  </header>`;
}

/** The heading of the page, unless the page has a larger one of its own. */
function Crumb({ route, page }) {
  const text = crumb(route, page);
  return route.session || route.name === "run" || (route.name === "ask" && state.session) ? html`<h1 title=${text}>${text}</h1>` : html`<b>${text}</b>`;
}

function crumb(route, page) {
  if (route.name === "ask") return route.session || state.session ? state.session?.title || "Conversation" : "New question";
  if (route.name === "run") return "A recorded run";
  if (route.name === "compare") return "Two runs";
  if (route.name === "trees") return route.tree ?? "Trees";
  return page?.project?.split(/[\\/]/).filter(Boolean).at(-1) ?? "This project";
}

/** Said once, where one is. What is on the page stays. */
function Connection() {
  if (state.connection === "up") return null;
  const [head, rest] = connectionWords(state.connection, Boolean(liveExchange()));
  return html`<span class="offline" role="status">${head} ${coded(rest)}${state.connection === "gone" && html` <button type="button" class="link" onClick=${loadPage}>Retry</button>`}</span>`;
}
