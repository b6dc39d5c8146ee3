// How a run ended: the reason, what it took, what was tried and what is missing, and what can be done now.
import { html, useState } from "../html.js";
import { Mark } from "../marks.js";
import { count, holdWords, money, plural, seconds } from "../format.js";
import { endOf, stopWords } from "../words.js";
import { set, state } from "../store.js";
import { holding } from "./exchange.js";
import { beginEdit, retry } from "./asking.js";

export function Closing({ exchange }) {
  const { done, usage } = exchange;
  const { tone, mark } = endOf(exchange.stopReason);
  const missing = done?.missing ?? [];
  const tried = tone === "yes" ? [] : (done?.tried ?? []);
  const lists = [["Tried", tried], ["Missing", missing]].filter(([head, list]) => list.length > 0 && !says(exchange.answer, head));
  const { of, hold } = holding(exchange);
  return html`
    ${exchange.error && tone !== "yes" && html`<p class="note is-broken"><${Mark} name="err" /><span>${exchange.error}</span></p>`}
    ${lists.length > 0 &&
    html`<div class="lists">${lists.map(([head, list]) => html`<div key=${head}><h3>${head}</h3><ul>${list.map((one) => html`<li key=${one}>${one}</li>`)}</ul></div>`)}</div>`}
    ${done?.caveat && !isAboutReader(exchange) && html`<p class="note"><${Mark} name="info" /><span>${done.caveat}</span></p>`}
    ${isAboutReader(exchange) && html`<${NoModel} />`}
    <footer class="closing">
      <p class=${`stop-reason is-${tone}`}><${Mark} name=${mark} />${stopWords(exchange.stopReason)}</p>
      <${Actions} exchange=${exchange} />
      ${usage &&
      html`<p class="meta">
        <span>${plural(usage.turns, "turn")}</span>
        <span>${count(usage.tokens)} tokens</span>
        ${usage.money > 0 && html`<span>${money(usage.money)}</span>`}
        <span>${seconds(tookSeconds(exchange))}</span>
        ${of > 0 && html`<span>${holdWords(hold, of)}</span>`}
        ${exchange.done && !missing.length && tone === "yes" && hold === of && html`<span>nothing missing</span>`}
      </p>`}
    </footer>
  `;
}

/** An answer that the tree put together from what was found has these lists as lines of its own. */
const says = (answer, head) => new RegExp(`^${head}: `, "m").test(answer ?? "");

/** Without a model the page says so once, below the first answer of the conversation. */
function isAboutReader(exchange) {
  const isFirst = state.session?.exchanges.values().next().value?.id === exchange.id;
  return state.page && state.page.model && !state.page.model.is_configured && isFirst && exchange.answer;
}

function NoModel() {
  return html`<p class="note"><${Mark} name="info" /><span>No language model is configured, so this answer only quotes what was found.
    ${" "}<button type="button" class="link" onClick=${() => set({ dialog: "model" })}>How to set one</button></span></p>`;
}

const tookSeconds = (exchange) => exchange.usage.seconds;

function Actions({ exchange }) {
  const [copied, setCopied] = useState("");
  const copy = async (what, text) => {
    await navigator.clipboard.writeText(text);
    setCopied(what);
    setTimeout(() => setCopied(""), 1500);
  };
  const link = () => `${location.origin}/s/${state.session.id}#${exchange.id}`;
  return html`<span class="actions">
    <button type="button" data-act="copy" onClick=${() => copy("text", exchange.answer ?? "")}>${copied === "text" ? "Copied" : "Copy"}</button>
    ${state.session?.id && state.route.name !== "run" && html`
      <button type="button" data-act="retry" onClick=${() => retry(exchange)}>Retry</button>
      <button type="button" data-act="edit" onClick=${() => beginEdit(exchange)}>Edit</button>
      <button type="button" data-act="link" onClick=${() => copy("link", link())}>${copied === "link" ? "Copied" : "Link"}</button>`}
    <span class="vh" role="status">${copied && "Copied."}</span>
  </span>`;
}
