"""Stage 1: splits a query into tokens and gives each token a kind (word, path, flag, version …).

Input can be anything: control characters, emoji, a pasted log of 100 KB, any language. The output
has a maximum size, so a query has a maximum cost.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from oracle.patterns import lazy_pattern

# Characters kept from the start and the end of a long text.
HEAD, TAIL = 400, 240
# A text of PASTE characters is not typed by hand. It is a paste, and the request is at one end.
PASTE, PASTE_HEAD, PASTE_TAIL = 1600, 140, 80

_CURLY = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "\u00a0": " ", "…": "..."})
# Control characters (tab and newline excepted) and invisible marks of direction or width.
_CONTROL = lazy_pattern(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\ufeff]")

_CODE_FILE = (
    r"(?:py|pyi|js|jsx|mjs|ts|tsx|go|rs|java|kt|kts|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|lua|jl|"
    r"zig|ex|exs|erl|hs|sh|ps1|sql|proto|tf|gradle|cu|glsl|vue|svelte|css|scss|html|ya?ml|toml|"
    r"json|ini|cfg|conf|lock|env|xml|cmake|ipynb|bat|dart|m|mm|r|pl|f90|vert|frag|graphql)"
)
# Order matters: the first alternative that matches wins. The first four match most positions, so
# the expensive ones after them are rarely tried. Lengths are limited ({0,100}) and look-behinds
# stop a match from starting inside a longer name; both keep the time linear on hostile input.
_PATTERNS = (
    # A plain word, not one that may begin a stack trace, a message of a tool or a title.
    (
        "plain",
        r"(?!at |Traceback|npm E|Segm|undefined r|[EeFf][ra][rt][oa][rl] [A-Ze]|[Rr]egression i"
        r"|[Bb]ug rep|[Ff]eature req)[A-Za-z]?[a-z]+(?=[ ,?!]|\Z)",
    ),
    ("space", r"[ \t]+"),
    ("pause", r"[.?!;:,\n]++(?=[ \t]|\Z)"),
    # A date with an optional time, as in logs, or a bare integer.
    ("stamp", r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d:\d\d[\d.,Z]*)?(?=\s)|\d{1,9}(?=[ ,?!\n]|\Z)"),
    # A fence that is never closed extends to the end.
    ("fence", r"```.*?(?:```|\Z)"),
    ("url", r"https?://\S+|www\.\S+"),
    ("quoted_code", r"`[^`\n]{1,120}`"),
    # The mark of the title of a ticket or a commit: `fix(ui): …`, `[Bug] …`. What follows describes
    # a change or a fault, even if it begins like an order.
    (
        "title",
        r"\A\[(?i:bug|regression|crash|feature|enhancement|fix|feat|request|perf)\b[^\]\n]{0,20}\]:?"
        r"|\A(?:feat|fix|chore|docs|refactor|perf|tests?|ci|build|style|revert|deps)"
        r"(?:\([^)\n]{1,40}\))?!?:(?= )"
        r"|\A(?i:bug(?: report)?|regression|crash|feature(?: request)?|enhancement)"
        r"(?: in [\w.]{1,20})?:(?= )",
    ),
    # First lines and frames of Python, Java and C failures, messages of build tools, and log levels
    # in capitals.
    (
        "trace",
        r"Traceback \(most recent|\bat [\w$.<>]+\([\w.]+:\d+\)|File \"[^\"\n]+\", line \d+"
        r"|\b(?:[a-z]\w{0,20}\.){0,5}[A-Z]\w{0,60}(?:Error|Exception|Warning)(?::(?= )|(?= at ))"
        r"|\b(?:[a-z]\w{0,20}\.){1,5}[A-Z]\w{0,60}:(?= )"
        r"|\b(?:panic|fatal|(?:[Ff]atal )?[Ee]rror(?:\[\w+\]| [A-Z]{1,4}\d{1,6})?):(?= )"
        r"|\bnpm ERR!|\bmake(?:\[\d+\])?: \*\*\*|\bSegmentation fault\b|\bundefined reference to\b"
        r"|\b(?:FATAL|ERROR|WARN|SIGSEGV|SIGABRT)\b",
    ),
    # A single quote must not touch a word outside: `don't` and `users'` are not quotations.
    ("quote", r"\"[^\"\n]{2,200}\"|(?<!\w)'[^'\n]{3,120}'(?!\w)|«[^»\n]{2,200}»"),
    ("doc_file", r"(?<![\w./~-])[\w./~-]{0,100}[\w-]\.(?:md|mdx|rst|txt|adoc|docx?|pdf)\b"),
    ("line_ref", rf"(?<![\w./~-])[\w./-]{{1,100}}\.{_CODE_FILE}:\d+"),
    # Not followed by `(`: `path.c(1)` is a call.
    (
        "code_file",
        rf"(?<![\w./~-])[\w./~-]{{0,100}}[\w-]\.{_CODE_FILE}\b(?!\()"
        r"|\b(?:Makefile|Dockerfile|Jenkinsfile)\b",
    ),
    ("flag", r"(?<![\w-])--?[a-zA-Z][\w-]+(?:=\S+)?"),
    ("call", r"[A-Za-z_][\w.:]*\(\)|[A-Za-z_]\w*\.[A-Za-z_]\w*\([^)\n]{0,40}\)"),
    ("record", r"\b(?:ADR|RFC|PEP|CVE|JEP|ISO|IEC|KB|ORA)[- ]?\d[\d-]*\b"),
    ("ticket", r"(?<!\w)#\d+\b|\b[A-Z]{2,8}-\d+\b"),
    ("env", r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?:=\S*)?"),
    ("snake", r"\b_*[a-zA-Z][a-z0-9]*(?:_[a-zA-Z0-9]+)+\b|(?<!\w)__\w+__"),
    ("scoped", r"\b[A-Za-z_]\w*(?:::\w+)+"),
    ("camel", r"\b[a-z]+[a-z0-9]*(?:[A-Z][a-z0-9]+)+[A-Z]*\b"),
    ("pascal", r"\b[A-Z][a-z0-9]+(?:[A-Z]+[a-z0-9]*)+\b"),
    # `/a`, `./a/b`, `a/b/c`, `a/`. One slash alone is not enough: `and/or` is not a path.
    (
        "path",
        r"(?<!\w)(?:~|\.{1,2})?/[\w.@{}*<>:-]+(?:/[\w.@{}*<>:-]*)*"
        r"|\b[\w.-]+(?:/[\w.-]+){2,}|\b[\w.-]+/(?=\s|$|[?,;])",
    ),
    ("email", r"\b[\w.+-]+@[\w-]*(?:\.[\w-]+)*"),
    ("version", r"\bv?\d+(?:\.\d+)+(?:[-.]?(?:rc|alpha|beta|a|b)\d*)?(?:\.x)?\b|\bv\d+\b"),
    ("number", r"\d[\d.,:%]*"),
    ("cjk", r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"),
    # Letters of any script, with inner marks: `don't`, `e-mail`, `c++`, `.net`, and typed smileys.
    ("word", r"tl;?dr|[^\W\d_](?:[\w+#]|[-'./&](?=\w))*[+#]*|\.net\b|;\)|:\)|:\("),
    ("stop", r"[.?!;:,\n]+|(?<![-–—])[-–—]+(?=\s)|—|=>|->"),
    ("emoji", r"[\u2190-\u2bff\U0001f000-\U0001faff]"),
)
# The quick patterns produce the same kinds as the general ones further down.
_SAME = {"plain": "word", "pause": "stop", "stamp": "number"}
_SCANNER = lazy_pattern(
    "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _PATTERNS), re.DOTALL
)

_CONTRACTED = dict(
    re.findall(
        r"(\S+)=([a-z ]+)",
        "whats=what is,wheres=where is,whos=who is,hows=how is,whens=when is,thats=that is,"
        "theres=there is,im=i am,ive=i have,youre=you are,isnt=is not,arent=are not,wasnt=was not,"
        "dont=do not,doesnt=does not,didnt=did not,cant=can not,can't=can not,cannot=can not,"
        "wont=will not,won't=will not,couldnt=could not,wouldnt=would not,shouldnt=should not,"
        "hasnt=has not,havent=have not,let's=lets,lemme=let me,gimme=give me,gonna=going to,"
        "wanna=want to,gotta=got to,dunno=do not know,idk=i do not know,u=you,ur=your,r=are,"
        "pls=please,plz=please,teh=the,hte=the,waht=what,wher=where,cuz=because,bc=because,"
        "w/=with,w/o=without,abt=about,ppl=people,rn=right now".replace(",", "\n"),
    )
)
# After these words `'s` means `is`; after a noun it is a possessive.
_BEFORE_IS = frozenset(
    {"what", "where", "who", "how", "when", "why", "which", "that", "this", "it", "there", "here"}
    | {"he", "she", "everything"}
)
_TAILS = {"'re": "are", "'ve": "have", "'ll": "will", "'d": "would", "'m": "am"}


class Token(NamedTuple):
    """`word` is lower case; `kind` names the pattern that matched; `raw` is the text as typed."""

    word: str
    kind: str
    raw: str


def bounded(text: str) -> str:
    """Keep the start and the end of a long text: a request is written around a pasted log."""
    if len(text) <= HEAD + TAIL:
        return text
    head, tail = (HEAD, TAIL) if len(text) < PASTE else (PASTE_HEAD, PASTE_TAIL)
    return f"{text[:head]}\n{text[-tail:]}"


def clean(text: str) -> str:
    # Cut before and after: normalizing 100 KB is slow, and NFKC can make a text longer.
    folded = unicodedata.normalize("NFKC", bounded(text)).translate(_CURLY)
    return bounded(_CONTROL.sub(" ", folded))


def expand(word: str) -> list[str]:
    """Split a contraction into its words (`what's` into `what is`); return other words as is."""
    if word in _CONTRACTED:
        return _CONTRACTED[word].split()
    if "'" not in word:
        return [word]
    if word.endswith("n't"):
        return [word[:-3], "not"]
    stem, mark, tail = word.rpartition("'")
    if tail == "s" and stem in _BEFORE_IS:
        return [stem, "is"]
    if mark + tail in _TAILS and stem:
        return [stem, _TAILS[mark + tail]]
    return [word]


def tokenize(text: str) -> list[Token]:
    tokens: list[Token] = []
    for match in _SCANNER.finditer(text):
        kind = match.lastgroup or "word"
        kind = _SAME.get(kind, kind)
        raw = match.group()
        if kind == "word":
            tokens.extend(Token(word, "word", raw) for word in expand(raw.lower()))
        elif kind != "space":
            tokens.append(Token(_placeholder(kind, raw), kind, raw))
    return tokens


def _placeholder(kind: str, raw: str) -> str:
    """Reduce punctuation to three signs: `?` asks, `|` ends a sentence, `,` ends a clause."""
    if kind != "stop":
        return f"<{kind}>"
    if "?" in raw:
        return "?"
    return "|" if raw.strip("-–—,:") else ","
