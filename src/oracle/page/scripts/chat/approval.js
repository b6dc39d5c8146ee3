// A thing that a person must allow: what would be written, in place, and two buttons. No letter says yes.
import { html, useEffect, useRef, useState } from "../html.js";
import { get, post } from "../api.js";
import { Mark } from "../marks.js";
import { touch } from "../store.js";
import { diffLines } from "./diff.js";

export function Approval({ exchange, approval }) {
  const [problem, setProblem] = useState("");
  const no = useRef(null);
  // The focus goes to No: Enter that was meant for something else must not allow a write.
  useEffect(() => {
    if (approval.isOpen && !document.activeElement?.closest?.("textarea")) no.current?.focus({ preventScroll: true });
  }, []);
  const say = async (isYes) => {
    const told = (said) => {
      approval.said = said;
      exchange.version += 1;
      touch("session");
    };
    told(isYes);
    try {
      await post(`/api/runs/${exchange.runId}/approvals/${approval.id}`, { approve: isYes });
    } catch (refused) {
      told(null);
      setProblem(refused.message);
    }
  };
  const isWaiting = approval.isOpen && approval.said === null;
  const calls = approval.calls.length ? approval.calls : callsFor(exchange, approval);
  return html`<section class=${`approval${isWaiting ? "" : " is-over"}`} role=${isWaiting ? "alertdialog" : "group"} aria-label="A thing to approve">
    <header><${Mark} name="person" size=${13} /><h3>${approval.text}</h3></header>
    ${calls.map((call) => html`<${Written} key=${JSON.stringify(call.arguments)} call=${call} />`)}
    ${!calls.length && html`<p class="where">A yes lets it use ${approval.tools.map((tool, index) => html`${index ? ", " : ""}<code>${tool}</code>`)} for this question. What it writes appears in its step.</p>`}
    <footer>
      ${isWaiting
        ? html`<button type="button" class="button" data-approve="yes" onClick=${() => say(true)}>Allow</button>
            <button type="button" class="button plain" data-approve="no" ref=${no} onClick=${() => say(false)}>Do not allow</button>
            <span>${problem || "The run waits for you."}</span>`
        : html`<span>${approval.said === null ? "This has been answered." : approval.said ? "You allowed it." : "You did not allow it."}</span>`}
    </footer>
  </section>`;
}

/** The model may have said what it wants to write before it was allowed to. */
function callsFor(exchange, approval) {
  const turn = exchange.turns.find((one) => one.turn === approval.turn);
  return turn?.calls.filter((call) => approval.tools.includes(call.name)) ?? [];
}

const TEXTS = ["content", "entry", "text", "body", "new_text"];
const PLACES = ["path", "title", "thread", "file", "name"];

function Written({ call }) {
  const text = TEXTS.map((name) => call.arguments[name]).find((value) => typeof value === "string") ?? null;
  const place = PLACES.map((name) => call.arguments[name]).find((value) => typeof value === "string") ?? "";
  const { path, text: before } = useBefore(call);
  if (text === null) return html`<pre class="diff" tabindex="0"><span>${JSON.stringify(call.arguments, null, 2)}</span></pre>`;
  const rows = diffLines(before ?? "", writtenText(call, text, before));
  const rest = Object.entries(call.arguments).filter(([name, value]) => value !== text && value !== place && value !== false);
  return html`<p class="where"><code>${call.name}</code> ${place && html`to <code>${path ?? place}</code>`}${rest.map(([name, value]) => html`, ${name} <code>${String(value)}</code>`)}</p>
    <pre class="diff" tabindex="0" aria-label="What would be written">${rows.map(([kind, line]) => html`<span class=${kind}>${line}</span>`)}</pre>`;
}

/** What the file would say. A note gets its title as a heading; to a thread something is added. */
function writtenText({ name, arguments: given }, text, before) {
  if (name === "push_thread") return before ? `${before}\n\n${text}` : text;
  const body = text.replace(/^\n+|\n+$/g, "");
  return name === "write_note" && !body.startsWith("# ") ? `# ${given.title}\n\n${body}` : text.replace(/\n+$/, "");
}

const beforeQuery = ({ path, title, thread }) => (path ? { path } : title ? { note: title } : thread ? { thread } : null);

/** What the file says now, so that the difference can be shown; nothing if there is no such file. */
function useBefore({ arguments: given }) {
  const [found, setFound] = useState({ path: null, text: null });
  const query = beforeQuery(given);
  useEffect(() => {
    if (!query) return;
    get(`/api/lines?${new URLSearchParams(query)}`)
      .then(({ path, lines }) => setFound({ path, text: lines.map((line) => line.text).join("\n") }))
      .catch(() => {});
  }, [JSON.stringify(query)]);
  return found;
}
