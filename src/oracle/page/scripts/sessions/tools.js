// What can be done with the conversation that is open: rename, export, delete.
import { html, useState } from "../html.js";
import { request } from "../api.js";
import { state, touch } from "../store.js";
import { go } from "../router.js";
import { listSessions } from "./listing.js";

export function SessionTools({ row }) {
  const [isAsking, setAsking] = useState(false);
  const [problem, setProblem] = useState("");
  const tried = async (work) => {
    try {
      await work();
    } catch (refused) {
      setProblem(refused.message);
    }
  };
  const rename = (event) => {
    event.preventDefault();
    const title = new FormData(event.target).get("title").trim();
    if (title) tried(async () => {
      await request(`/api/sessions/${row.id}`, { method: "PATCH", body: { title } });
      state.session.title = title;
      touch("session");
      setAsking(false);
      listSessions();
    });
  };
  const remove = () => tried(async () => {
    await request(`/api/sessions/${row.id}`, { method: "DELETE" });
    go("/");
    listSessions();
  });
  const save = () => tried(async () => {
    const text = await (await request(`/api/sessions/${row.id}/export`)).text();
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(new Blob([text], { type: "text/markdown" })), download: `oracle-${row.id.slice(0, 8)}.md` });
    link.click();
    URL.revokeObjectURL(link.href);
  });
  if (isAsking === "rename") return html`<form class="session-tools" onSubmit=${rename}><label class="search"><span class="vh">Title</span><input name="title" value=${row.title} maxlength="1000" autofocus /></label><button class="button plain">Save</button></form>`;
  if (isAsking === "delete") return html`<p class="session-tools" role="alert"><span>Delete it with its runs, for good?</span><button type="button" class="button plain" onClick=${remove}>Delete</button><button type="button" class="button plain" onClick=${() => setAsking(false)}>Keep</button></p>`;
  return html`<p class="session-tools"><button type="button" class="chip" onClick=${save}>Export</button><button type="button" class="chip" onClick=${() => setAsking("rename")}>Rename</button><button type="button" class="chip" onClick=${() => setAsking("delete")}>Delete</button>${problem && html`<span role="alert">${problem}</span>`}</p>`;
}
