// The conversation as the tree it is. A line that only goes on is not indented; a branch is.
import { html } from "../html.js";
import { branchTo } from "../chat/exchange.js";
import { showExchange } from "../chat/asking.js";
import { endOf } from "../words.js";
import { Mark } from "../marks.js";

export function Tree({ session }) {
  const all = [...session.exchanges.values()].sort((a, b) => a.createdAt - b.createdAt);
  const children = new Map();
  for (const one of all) {
    const parent = session.exchanges.has(one.parentId) ? one.parentId : null;
    children.set(parent, [...(children.get(parent) ?? []), one]);
  }
  const shown = new Set(branchTo(session.exchanges, session.leaf).map((one) => one.id));
  return html`<div class="branch-tree"><${Line} ids=${children.get(null) ?? []} children=${children} shown=${shown} session=${session} /></div>`;
}

function Line({ ids, children, shown, session }) {
  if (!ids.length) return null;
  const item = (one) => html`<li key=${one.id} class=${shown.has(one.id) ? "is-shown" : ""}>
    <a href=${`/s/${session.id}#${one.id}`} aria-current=${session.shown === one.id ? "true" : undefined} onClick=${(event) => { event.preventDefault(); showExchange(one.id); }}>
      <${Mark} name=${one.isLive ? "run" : endOf(one.stopReason).mark} size=${10} /><span>${one.question}</span></a>
    ${ids.length > 1 && html`<${Line} ids=${children.get(one.id) ?? []} children=${children} shown=${shown} session=${session} />`}
  </li>`;
  return html`<ul class=${ids.length > 1 ? "is-fork" : ""}>${ids.map(item)}
    ${ids.length === 1 && children.get(ids[0].id) && html`<li class="goes-on"><${Line} ids=${children.get(ids[0].id)} children=${children} shown=${shown} session=${session} /></li>`}</ul>`;
}
