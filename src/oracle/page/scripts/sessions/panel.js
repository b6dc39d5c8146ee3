// Sessions: by day, searched as one types, with the branches of the one that is open.
import { html, useEffect, useRef } from "../html.js";
import { set, state, useStore } from "../store.js";
import { day, plural } from "../format.js";
import { Icon } from "../icons.js";
import { listSessions } from "./listing.js";
import { SessionTools } from "./tools.js";
import { Tree } from "./tree.js";

export function Sessions() {
  const { panel, sessions, session, search } = useStore("panel", "sessions", "session", "search");
  const field = useRef(null);
  useEffect(() => {
    // What is typed next is for the panel, not for the page behind it; but no keyboard comes up by itself.
    const isOver = panel && innerWidth < 2300 && !matchMedia("(pointer: coarse)").matches;
    if (panel === "search" || isOver) field.current?.focus();
    if (panel) listSessions();
  }, [panel]);
  const isOpen = Boolean(panel);
  const close = () => set({ panel: null });
  return html`<aside class=${`sessions${isOpen ? " is-open" : ""}`} aria-label="Sessions" inert=${isOpen ? undefined : true}>
    <header><span class="label">Sessions</span><a class="chip" href="/" onClick=${close}>New question</a>
      <button type="button" class="icon" aria-label="Close sessions" onClick=${close}><${Icon} name="close" /></button></header>
    <label class="search"><${Icon} name="search" size=${14} /><span class="vh">Search sessions</span>
      <input type="search" ref=${field} placeholder="words of a title" value=${search ?? ""} onInput=${(event) => listSessions(event.target.value)} /></label>
    <div class="list">${isOpen && groups(sessions ?? []).map(([name, rows]) => html`<section key=${name}>
      <h2>${name}</h2>
      <ul>${rows.map((row) => html`<${Row} key=${row.id} row=${row} session=${session} />`)}</ul>
    </section>`)}
    ${isOpen && sessions?.length === 0 && html`<p class="none">${search ? "No title has these words." : "No conversations yet. Each first question begins one."}</p>`}</div>
  </aside>`;
}

function Row({ row, session }) {
  const isCurrent = session?.id === row.id;
  return html`<li>
    <a class="row" href=${`/s/${row.id}`} aria-current=${isCurrent ? "page" : undefined} onClick=${() => innerWidth < 2300 && !isCurrent && set({ panel: null })}>
      <span>${row.title}</span><small>${plural(row.exchanges, "question")}</small></a>
    ${isCurrent && !session.isOpening && html`${session.exchanges.size > 1 && html`<${Tree} session=${session} />`}<${SessionTools} row=${row} />`}
  </li>`;
}

function groups(sessions) {
  const days = new Map();
  for (const one of sessions) {
    const name = day(one.updated_at);
    if (!days.has(name)) days.set(name, []);
    days.get(name).push(one);
  }
  return [...days];
}

export const togglePanel = (name) => set({ panel: state.panel === name ? null : name });
