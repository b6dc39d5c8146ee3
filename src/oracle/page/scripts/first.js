// The first visit: one sentence, the field, questions made of this project's words, and the tree at rest.
import { html } from "./html.js";
import { useStore } from "./store.js";
import { coded } from "./coded.js";
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
      <${Composer} isFirst placeholder="Where is …, and how does it work?" />
      ${!page?.questions && html`<${Waiting} />`}
      ${(questions.length > 0 || recorded) && html`<section class="tryout"><h2>Or start with one of these</h2><ul>
        ${questions.map((one) => html`<li key=${one.question}><button type="button" onClick=${() => ask(one.question, null)}>${one.question}</button><span>${one.kind}</span></li>`)}
        ${recorded && html`<li><a href=${`/runs/${recorded.id}?play=1`}>Watch a recorded run instead</a><span>${plural(recorded.usage?.turns ?? 1, "turn")}</span></li>`}
      </ul></section>`}
      ${page?.questions && html`<${State} page=${page} />`}
    </div></main>
    <section class="mind phases" aria-label="The mind" id="mind" tabindex="-1"><div>
      <h2>What will decide</h2>
      <p>The model writes; this tree decides when it is asked, with which tools, and when it is enough. It lights up while it works.</p>
      <${TreeAtRest} outline=${page?.tree?.outline ?? []} />
      <p class="marks">${MARKS.map(([mark, word]) => html`<span key=${mark}><${Mark} name=${mark} />${word}</span>`)}</p>
    </div></section>`;
}

/** What is not known yet has its place, so that the field does not move when it comes. */
function Waiting() {
  return html`<div aria-hidden="true" class="is-waiting"><section class="tryout"><h2><span class="bone"></span></h2><ul>${[1, 2, 3, 4].map((one) => html`<li key=${one}><p><span class="bone"></span></p></li>`)}</ul></section>
    <div class="state"><i></i><p>${" "}</p><i></i><p>${" "}</p></div></div>`;
}

const MARKS = [["run", "running"], ["yes", "yes"], ["no", "no"], ["skip", "skipped"], ["halt", "halted"], ["err", "broken"]];

function indexWords({ is_ready: isReady, files, problem }) {
  if (problem) return problem;
  if (!isReady) return `Nothing is indexed yet. Reading ${files ? count(files) : "the"} files…`;
  if (!files) return "There are no files to answer from yet.";
  return `${plural(files, "file")} ${files === 1 ? "is" : "are"} indexed.`;
}

/** Two lines: what is indexed, and whether a model is set and what that means. */
function State({ page }) {
  const { index, model } = page;
  return html`<div class="state">
    ${index && html`<${Mark} name=${index.problem ? "halt" : !index.is_ready ? "run" : index.files ? "yes" : "info"} /><span role="status">${coded(indexWords(index))}</span>`}
    ${model && !model.is_configured && html`<${Mark} name="info" /><span>${coded(model.meaning)}</span>`}
    ${model?.is_configured && html`<${Mark} name="yes" /><span>Answered by ${model.name}.</span>`}
  </div>`;
}
