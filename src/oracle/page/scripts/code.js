// Code without colours: keywords are heavy, names are ink, comments are quiet. Hue stays free for meaning.
import { html } from "./html.js";

const words = (text) => new Set(text.split(" "));

const C_LIKE = words(
  "abstract as async await bool break case catch class const continue default defer delete do else enum export extends extern false final finally fn for func function goto if impl implements import in include inline instanceof interface internal let loop match mod module move mut namespace new nil null operator override package private protected pub public return select self sizeof static struct super switch template this throw throws trait true try type typedef typename typeof union unsafe use using var virtual void while yield",
);
const KEYWORDS = {
  python: words("False None True and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield"),
  lua: words("and break do else elseif end false for function goto if in local nil not or repeat return then true until while"),
  ruby: words("BEGIN END alias and begin break case class def do else elsif end ensure false for if in module next nil not or redo require rescue retry return self super then true undef unless until when while yield"),
  sh: words("case do done elif else esac export fi for function if in local return set then until while"),
  sql: words("and as by create delete desc distinct drop from group having in insert into is join left like limit not null on or order primary references select set table union update values where"),
  toml: words("true false"),
  json: words("true false null"),
  c: C_LIKE,
};
const SAME = {
  py: "python", pyi: "python", bash: "sh", shell: "sh", zsh: "sh", console: "sh", rb: "ruby", yml: "yaml", ini: "toml", cfg: "toml", jsonc: "json", md: "text", markdown: "text", txt: "text",
};

const STRING = String.raw`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'`;
const WORD = String.raw`[A-Za-z_][\w]*`;
const TOKENS = {
  python: [String.raw`"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|#[^\n]*`, STRING],
  lua: [String.raw`--\[\[[\s\S]*?(?:\]\]|$)|--[^\n]*`, STRING],
  sql: [String.raw`--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`, STRING],
  hash: [String.raw`#[^\n]*`, STRING],
  c: [String.raw`\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`, String.raw`${STRING}|${"`"}(?:\\.|[^${"`"}\\])*${"`"}`],
};
const FAMILY = { python: "python", lua: "lua", sql: "sql", sh: "hash", ruby: "hash", toml: "hash", yaml: "hash", makefile: "hash", dockerfile: "hash" };
const PATTERNS = new Map();

/** The language of a fence or of a file's name. */
export function languageOf(name) {
  const last = (name ?? "").toLowerCase().split(/[./\s]/).pop();
  return SAME[last] ?? last;
}

/** Pieces of code: [kind, text] with kind "k" (keyword), "f" (a name that is defined), "c" (comment) or "". */
export function pieces(text, language) {
  if (language === "text" || language === "diff" || language === "") return [["", text]];
  const keywords = KEYWORDS[language] ?? KEYWORDS.c;
  const found = [];
  let at = 0;
  let before = "";
  for (const match of text.matchAll(patternOf(language))) {
    const [token, comment, string] = match;
    if (match.index > at) found.push(["", text.slice(at, match.index)]);
    at = match.index + token.length;
    let kind = "";
    if (comment !== undefined) kind = "c";
    else if (string === undefined && keywords.has(language === "sql" ? token.toLowerCase() : token)) kind = "k";
    else if (string === undefined && DEFINES.has(before)) kind = "f";
    found.push([kind, token]);
    before = string === undefined && comment === undefined ? token : "";
  }
  if (at < text.length) found.push(["", text.slice(at)]);
  return found;
}

const DEFINES = words("def class function func fn struct interface enum trait type local const let var module");

function patternOf(language) {
  if (!PATTERNS.has(language)) {
    const [comment, string] = TOKENS[FAMILY[language] ?? "c"];
    PATTERNS.set(language, new RegExp(`(${comment})|(${string})|${WORD}`, "g"));
  }
  return PATTERNS.get(language);
}

/** The lines of a text, each as a list of nodes to draw. */
export function lines(text, language) {
  const rows = [[]];
  for (const [kind, piece] of pieces(text, language)) {
    piece.split("\n").forEach((part, index) => {
      if (index) rows.push([]);
      if (part) rows.at(-1).push(kind ? html`<span class=${kind}>${part}</span>` : part);
    });
  }
  return rows;
}

/** The same as DOM nodes, for answers that are drawn without the library. */
export function paint(element, text, language) {
  const all = document.createDocumentFragment();
  for (const [kind, piece] of pieces(text, language)) {
    if (!kind) {
      all.append(piece);
      continue;
    }
    const span = document.createElement("span");
    span.className = kind;
    span.textContent = piece;
    all.append(span);
  }
  element.replaceChildren(all);
}
