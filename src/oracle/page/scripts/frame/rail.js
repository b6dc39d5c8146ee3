// The rail at the left: a new question, the sessions, search, settings.
import { html } from "../html.js";
import { set, useStore } from "../store.js";
import { Icon } from "../icons.js";

export function Rail() {
  const { panel, route } = useStore("panel", "route");
  const toggle = (name) => () => set({ panel: panel === name ? null : name });
  const button = (name, icon, label) => html`<button type="button" aria-label=${label} title=${label} aria-expanded=${panel === name ? "true" : "false"} data-here=${name === "sessions" && route.name === "ask" ? "true" : undefined} data-panel=${name} onClick=${toggle(name)}><${Icon} name=${icon} /></button>`;
  return html`<nav class="rail" aria-label="Sessions">
    <a href="/" aria-label="New question" title="New question"><${Icon} name="plus" /></a>
    ${button("sessions", "sessions", "Sessions")}
    ${button("search", "search", "Search sessions")}
    <span class="gap"></span>
    <button type="button" aria-label="Settings" title="Settings" onClick=${() => set({ dialog: "settings" })}><${Icon} name="settings" /></button>
  </nav>`;
}
