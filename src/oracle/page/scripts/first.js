// The first visit: one sentence, the field, questions made of this project's words, and the tree at rest.
import { html } from "./html.js";
import { useStore } from "./store.js";
import { count, plural } from "./format.js";
import { Mark } from "./marks.js";
import { Composer } from "./chat/composer.js";
import { ask } from "./chat/asking.js";
import { TreeAtRest } from "./mind/rest.js";

export function FirstVisit() {
  const { page } = useStore("page");
  const questions = page?.questions ?? [];
  const recorded = page?.runs?.find((run) => run.status === "done");
  return html`<main class="chat" aria-label="Conversation" id="answer" tabindex="-1"><div class="welcome">
      <h1>Ask this project something.</h1>
      <p class="lead">Answers come with the lines they rest on, and you can watch how they come about.</p>
      <${Composer} isFirst placeholder=${questions[0]?.question ?? "Where is …, and how does it work?"} />
      ${page && (questions.length > 0 || recorded) && html`<section class="tryout"><h2>Or start with one of these</h2><ul>
        ${questions.map((one) => html`<li key=${one.question}><button type="button" onClick=${() => ask(one.question, null)}>${one.question}</button><span>${one.kind}</span></li>`)}
        ${recorded && html`<li><a href=${`/runs/${recorded.id}?play=1`}>Watch a recorded run instead</a><span>${plural(recorded.usage?.turns ?? 1, "turn")}</span></li>`}
      </ul></section>`}
      ${page && html`<${State} page=${page} />`}
    </div></main>
    <section class="mind phases" aria-label="The mind" id="mind" tabindex="-1"><div>
      <h2>What will decide</h2>
      <p>The model writes; this tree decides when it is asked, with which tools, and when it is enough. It lights up while it works.</p>
      <${TreeAtRest} outline=${page?.tree?.outline ?? []} />
      <p class="marks">${MARKS.map(([mark, word]) => html`<span key=${mark}><${Mark} name=${mark} />${word}</span>`)}</p>
    </div></section>`;
}

const MARKS = [["run", "running"], ["yes", "yes"], ["no", "no"], ["skip", "skipped"], ["halt", "halted"], ["err", "broken"]];

/** Names of files and settings in a sentence of the server are set as code. */
const withCode = (text) => text.split(/(\[model\] name|oracle\.toml)/).map((part, index) => (index % 2 ? html`<code>${part}</code>` : part));

/** Two lines: what is indexed, and whether a model is set and what that means. */
function State({ page }) {
  const { index, model } = page;
  return html`<div class="state">
    ${index && html`<${Mark} name=${index.is_ready ? "yes" : "run"} /><span role="status">${index.is_ready
      ? `${plural(index.files, "file")} ${index.files === 1 ? "is" : "are"} indexed.`
      : `Nothing is indexed yet. Reading ${index.files ? count(index.files) : "the"} files…`}</span>`}
    ${model && !model.is_configured && html`<${Mark} name="info" /><span>${withCode(model.meaning ?? "")}</span>`}
    ${model?.is_configured && html`<${Mark} name="yes" /><span>Answered by ${model.name}.</span>`}
  </div>`;
}
