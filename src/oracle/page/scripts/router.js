// Addresses. Links are ordinary links; a click on one of ours changes the page without loading it again.
import { set } from "./store.js";

const ROUTES = [
  [/^\/$/, () => ({ name: "ask" })],
  [/^\/s\/([^/]+)$/, ([session]) => ({ name: "ask", session })],
  [/^\/runs$/, () => ({ name: "runs" })],
  [/^\/runs\/([^/]+)$/, ([run]) => ({ name: "run", run })],
  [/^\/compare$/, () => ({ name: "compare" })],
  [/^\/compare\/([^/]+)\/([^/]+)$/, ([a, b]) => ({ name: "compare", a, b })],
  [/^\/trees$/, () => ({ name: "trees" })],
  [/^\/trees\/([^/]+)$/, ([tree]) => ({ name: "trees", tree })],
];

function routeOf({ pathname, search, hash }) {
  const [exchange, citation] = decodeURIComponent(hash.slice(1)).split(":");
  const rest = { path: pathname, query: new URLSearchParams(search), exchange: exchange || null, citation: Number(citation) || null };
  for (const [pattern, make] of ROUTES) {
    const match = pattern.exec(pathname);
    if (match) return { session: null, run: null, a: null, b: null, tree: null, ...make(match.slice(1).map(decodeURIComponent)), ...rest };
  }
  return { name: "lost", ...rest };
}

export function go(path) {
  history.pushState(null, "", path);
  set({ route: routeOf(location) });
}

/** Another address for what is shown already. */
export function replace(path) {
  history.replaceState(null, "", path);
  set({ route: routeOf(location) });
}

export function listen() {
  const read = () => set({ route: routeOf(location) });
  addEventListener("popstate", read);
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    if (link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
    if (routeOf(link).name === "lost") return;
    event.preventDefault();
    if (link.getAttribute("href").startsWith("#")) document.querySelector(link.getAttribute("href"))?.focus();
    else go(link.pathname + link.search + link.hash);
  });
  read();
}
