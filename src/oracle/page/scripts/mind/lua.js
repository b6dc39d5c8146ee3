// The Lua of a run's trees, fetched once for each run.
import { get } from "../api.js";
import { useEffect, useState } from "../html.js";

const kept = new Map();

/** `{files, current, hash}` of the run's trees, or null until they are there. */
export function useLua(run) {
  const [, again] = useState(0);
  const id = run?.id;
  useEffect(() => {
    if (!id || kept.has(id)) return;
    kept.set(id, null);
    get(`/api/runs/${id}/trees`).then((trees) => { kept.set(id, trees); again((count) => count + 1); }).catch(() => kept.delete(id));
  }, [id]);
  return kept.get(id) ?? null;
}

/** The lines of the node that begins at `line`: until the brackets that it opens are closed. Pure. */
export function linesOfNode(text, line, most = 12) {
  const all = text.split("\n").slice(line - 1, line - 1 + 60);
  const found = [];
  let depth = 0;
  for (const one of all) {
    found.push(one);
    const code = one.replace(/--.*$/, "").replace(/"[^"]*"/g, "");
    for (const sign of code) depth += "({[".includes(sign) ? 1 : ")}]".includes(sign) ? -1 : 0;
    if (depth <= 0 || found.length >= most) break;
  }
  const indent = Math.min(...found.filter((one) => one.trim()).map((one) => one.match(/^ */)[0].length));
  return found.map((one) => one.slice(indent));
}
