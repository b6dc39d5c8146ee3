// The list of conversations. A later answer to an earlier search is dropped.
import { get } from "../api.js";
import { set, state } from "../store.js";

let wanted = 0;

export async function listSessions(search = state.search ?? "") {
  const mine = (wanted += 1);
  set({ search });
  try {
    const found = await get(`/api/sessions?limit=200&search=${encodeURIComponent(search)}`);
    if (mine === wanted) set({ sessions: found });
  } catch {
    // The bar says that the server does not answer; the old list stays.
  }
}
