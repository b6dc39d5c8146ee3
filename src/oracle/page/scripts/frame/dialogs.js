// The keys, the settings that belong to this browser, how to set a model, and a token if the server asks.
import { html, useEffect, useRef, useState } from "../html.js";
import { set, useStore } from "../store.js";
import { areKeysOff, switchKeys } from "../keys.js";
import { hasToken, keepToken } from "../api.js";
import { coded } from "../coded.js";
import { EDITORS, chooseEditor, chosenEditor } from "../editor.js";
import { Icon } from "../icons.js";
import { Mark } from "../marks.js";

export function Dialogs() {
  const { dialog } = useStore("dialog");
  const Body = { keys: Keys, settings: Settings, model: Model, token: Token }[dialog];
  return Body ? html`<${Dialog} key=${dialog}><${Body} /><//>` : null;
}

function Dialog({ children }) {
  const element = useRef(null);
  useEffect(() => {
    // The browser keeps the focus inside, closes with Escape, and gives the focus back.
    element.current.showModal();
    return () => element.current?.close();
  }, []);
  const close = () => set({ dialog: null });
  return html`<dialog class="dialog" ref=${element} onClose=${close} onClick=${(event) => event.target === element.current && close()} aria-labelledby="dialog-title">
    <button type="button" class="icon close" aria-label="Close" onClick=${close}><${Icon} name="close" /></button>
    ${children}
  </dialog>`;
}

const KEYS = [
  ["/", "to the question field"], ["↵  ⇧↵", "ask, new line"], ["esc", "close what is open, else stop the run"], ["j  k", "next, previous exchange or row"],
  ["t  s", "Tree, Sources"], ["1  2  3", "Path, Turn, All"], ["f", "to the node that runs or decided"], ["m", "hide or show the mind"], ["g a  g r", "Ask, Runs"], ["g c  g t", "Compare, Trees"],
  ["space", "play, pause"], ["←  →", "one step (recordings)"], ["[  ]", "previous, next turn"], ["n  ⇧n", "next, previous difference"],
  ["l", "to the live end"], ["b", "break before the chosen node"], ["+  −  0", "zoom in All"], ["c", "copy the answer; in Runs, compare"], ["?", "this list"],
];

function Keys() {
  const [isOff, setOff] = useState(areKeysOff());
  const toggle = (event) => {
    switchKeys(!event.target.checked);
    setOff(!event.target.checked);
  };
  return html`<h2 id="dialog-title">Keys</h2>
    <dl class="keys-list">${KEYS.map(([keys, does]) => html`<div key=${keys}><dt>${keys.split("  ").map((key) => html`<kbd>${key}</kbd>`)}</dt><dd>${does}</dd></div>`)}</dl>
    <label class="check"><input type="checkbox" checked=${!isOff} onChange=${toggle} /> Single letters are keys. They are off while typing.</label>`;
}

function Settings() {
  return html`<h2 id="dialog-title">Settings</h2>
    <p>What the project uses is set in its file <code>oracle.toml</code>; <code>oracle config show</code> lists every setting with its value and its source.</p>
    <p>This page keeps only three choices of its own in this browser: light or dark, whether single letters are keys, and the editor in which a cited file opens.</p>
    <p><label>Editor <select value=${chosenEditor()} onChange=${(event) => chooseEditor(event.target.value)}><option value="">none</option>${Object.entries(EDITORS).map(([id, { name }]) => html`<option key=${id} value=${id}>${name}</option>`)}</select></label></p>
    <p><button type="button" class="button plain" onClick=${() => dispatchEvent(new Event("oracle:theme"))}>Light or dark</button> <button type="button" class="button plain" onClick=${() => set({ dialog: "keys" })}>Keys</button></p>`;
}

function Model() {
  const { page } = useStore("page");
  return html`<h2 id="dialog-title">The model</h2>
    <p>${page?.model?.is_configured ? html`Questions are answered by <code>${page.model.name}</code>.` : coded(page?.model?.meaning ?? "No language model is configured: the built-in reader quotes, it does not explain.")}</p>
    <p>To have another one, list those that can be used, and select one:</p>
    <pre class="terminal"><code>oracle models
oracle models use NAME</code></pre>
    <p>A provider that needs a key gets it with <code>oracle keys set</code>. Then start <code>oracle serve</code> again.</p>`;
}

function Token() {
  const keep = (event) => {
    event.preventDefault();
    keepToken(new FormData(event.target).get("token").trim());
    location.reload();
  };
  return html`<h2 id="dialog-title">This server asks for a token</h2>
    ${hasToken() && html`<p role="alert"><${Mark} name="halt" /> The one that was given is not known here, or it was revoked or has expired.</p>`}
    <p>Make one with <code>oracle token create NAME</code>. It is kept until this tab is closed.</p>
    <form class="token" onSubmit=${keep}><label class="vh" for="token">Token</label>
      <span class="search"><input id="token" name="token" type="password" autocomplete="off" required autofocus /></span>
      <button class="button">Use it</button></form>`;
}
