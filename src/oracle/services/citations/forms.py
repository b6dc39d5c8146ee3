"""How citations are written, and what only looks like one.

Each pattern begins at the start of a run of its characters (the look-behind) and never gives one
back (`++`, `*+`, `(?>…)`). So the time is linear in the length of the text, whatever it contains.
"""

from __future__ import annotations

import re
from typing import Final

from oracle.models.source_kind import PREFIXES
from oracle.patterns import lazy_pattern

LONGEST_PATH: Final = 300

# Latin to Georgian. Scripts that write words without spaces are left out: there a path in running
# text would swallow the words around it.
_LETTERS: Final = r"0-9A-Za-z_\u00c0-\u1fff"
_PATH: Final = rf"[{_LETTERS}./@+~%\-]"
_RANGE: Final = r"L?\d++(?:[-–—]L?\d++)?"
# Punctuation or the end of emphasis may follow: `_a.py:12_`, `a.py:12+`, `a.py:12.`
_END: Final = rf"(?=[.+~_\-]*+(?!{_PATH}))"
# More lines of the same file: `a.py:3,7-9`. After a comma and a blank a number may be anything, for
# example a count or a year. It is a line only if no word follows it.
_MORE: Final = (
    rf"(?P<more>(?>(?:,{_RANGE}(?![{_LETTERS}.:%]\w|[{_LETTERS}%])"
    rf"|(?:,[ ]|,?[ ](?:and|&)[ ]){_RANGE}(?=$|[;)\]`*]|\.(?:[\s)`*]|$)|[ ]\||,[ ]?L?\d))*))"
)
# `:12`, `:12-20`, `:L12`, `:12:5` (line and column), `:12ff`, `::12`, `#L12`, `#L12-L20`, `#12`.
# A number that no file has is a line all the same: it was not read.
_LINES: Final = (
    r"(?:::?L?(?P<first>\d++)(?:[-–—]L?(?P<last>\d++)|ff?(?!\w))?(?::\d{1,5})?"
    r"|\#L(?P<first_l>\d++)(?:C\d{1,5})?(?:[-–:]L?(?P<last_l>\d++)(?:C\d{1,5})?)?"
    r"|\#(?P<first_n>\d++)(?:-(?P<last_n>\d++))?)"
    rf"{_MORE}"
)
_TIME: Final = r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?Z?)?"
_PREFIX: Final = "|".join(map(re.escape, PREFIXES))
_NOTE: Final = (
    r"\[\[(?P<title>[^\[\]\n|\#^]{1,200}+)"
    r"(?:\#(?P<heading>[^\[\]\n|^]{0,200}+))?(?:\#?\^[^\[\]\n|]{0,200}+)?(?:\|[^\[\]\n]{0,200}+)?\]\]"
)

# What may be between a path and "line 12".
_BEFORE_LINES: Final = (
    r"(?:,?[ ](?:(?:at|on|in|from|near|around|about|(?:start|beginn)ing[ ](?:at|on|from|with))[ ])?"
    r"|:[ ]?|[ ](?:-|–|—|\|)[ ])"
)

TOKEN: Final = lazy_pattern(
    rf"""
    (?<![A-Za-z0-9+.\-])(?P<url>[A-Za-z][A-Za-z0-9+.\-]*+://[!\#-;=?-Z_a-z~\u00c0-\u1fff]*+)
    | (?<![{_LETTERS}:/.\-])(?P<prefix>{_PREFIX}):(?P<holder>[^\s@`\[\]()<>"]{{1,200}}+)
      @(?P<time>{_TIME})(?![{_LETTERS}]|:\d)
    | {_NOTE}
    | (?<!{_PATH})(?P<path>{_PATH}++){_LINES}{_END}
    """,
    re.VERBOSE | re.MULTILINE,
)
"""A citation in running text or in a part of inline code: address, entry, note or file.

An address is matched as a whole, so that its `host:80` is not read as a file and its line.
"""

WHOLE: Final = lazy_pattern(
    rf"(?P<path>[^:\#`\\]{{1,{LONGEST_PATH}}}?){_LINES}"
    rf"|(?P<prefix>{_PREFIX}):(?P<holder>[^@`]{{1,200}})@(?P<time>{_TIME})",
)
"""Inline code that is only a citation. Here a name may have blanks in it."""

SPREAD: Final = lazy_pattern(
    rf"""
    (?<!{_PATH})(?P<path>{_PATH}++)
    (?: [`*]{{1,4}}+:L?(?P<first>\d++)(?:[-–—]L?(?P<last>\d++))?{_MORE}{_END}
      | [`*"'”]{{0,4}}+(?:{_BEFORE_LINES}|[ ]?(?P<bracket>[(\[]))[Ll]ines?[ ]
        (?P<first_w>\d++)(?:[ ]?(?:[-–—]|to)[ ]?(?P<last_w>\d++)|ff?)?(?!\w)
        (?P<more_w>(?>(?:(?:,[ ]?|,?[ ](?:and|to|&)[ ]){_RANGE}(?![%\w]|[ ]\w|\.\d))*))
        (?(bracket)[)\]]|)
      | [`*]{{0,4}}+[ ]?[(\[]L(?P<first_b>\d++)(?:[-–—]L?(?P<last_b>\d++))?[)\]]
      | [`*]{{1,4}}+[ ]?[(\[](?P<first_r>\d++)[-–—](?P<last_r>\d++)[)\]]
    )
    """,
    re.VERBOSE | re.MULTILINE,
)
"""A path whose lines are outside its code or bold type, or are given as "line 12"."""

BEFORE: Final = lazy_pattern(
    rf"\b[Ll]ines?[ ](?P<first>\d++)(?:[ ]?(?:[-–—]|to|and)[ ]?(?P<last>\d++))?"
    rf"[ ](?:of|in)[ ](?:the[ ](?:file[ ])?|file[ ])?[`*\"'“]{{0,4}}+(?P<path>{_PATH}++)"
    r"(?![:\#]L?\d)"
)
"""A path after its lines: "line 12 of a.py"."""

FURTHER: Final = lazy_pattern(r"L?(\d++)(?:[-–—]L?(\d++))?")

LINK: Final = lazy_pattern(
    r"\[[^\[\]\n]*+\]"
    r"(?:\([^()\s]*+(?:\([^()\s]*+\)[^()\s]*+)*+(?:[ \t]++\"[^\"\n]*+\")?\)"
    r"|\([^()\n]*+(?:\([^()\n]*+\)[^()\n]*+)*+\))"
)
"""A link; its target may have blanks in it, as the names of notes have."""

# Endings that make `name.ending:12` a file and its line.
_OF_FILES: Final = """
adb adoc ads asm astro awk bash bat bazel bib bzl c cc cfg cjs clj cljs cmake cmd coffee conf
cpp cr cs cshtml csproj css csv cu cxx d dart diff dockerfile edn el elm env erb erl ex exs f
f90 fish fs fsx gleam glsl go gql gradle graphql groovy h haml hbs hcl hh hpp hrl hs htm html
hxx i in ini ino ipynb ipp j2 jade java jinja jinja2 jl js json json5 jsonl jsx kt kts less lisp
lock log lua m makefile markdown md mdx mjs mk ml mli mm mod mts nim nix odin org pas patch php
pl plist pm po pp properties proto ps1 psm1 psql pug purs pxd py pyi pyw pyx qmd qml r rake rb
rego res rkt rmd robot rs rst s sass sbt scala scm scss sh snap sol sql styl sum sv svelte svg
swift tcl tex textile tf tfvars thrift toml ts tsv tsx txt v vb vhd vhdl vim vue vy wat wgsl
xaml xml xsd xsl yaml yml zig zsh
"""
_EXTENSIONS: Final = frozenset(_OF_FILES.split())
# Endings that are not also common names of methods or attributes, as `log` and `json` are.
_OF_FILES_ALONE: Final = """
bash bazel cc clj cljs cpp cs csproj css cxx dart exs gradle graphql groovy hpp hs htm ini
ipynb java jsonl jsx kt kts less lua markdown md mdx mjs mts php proto ps1 py pyi pyx rb rs rst
sass scala scss sh sol svelte swift tf toml ts tsv tsx txt vue xml yaml yml zig
"""
_DISTINCT: Final = frozenset(_OF_FILES_ALONE.split())
_OF_BARE_FILES: Final = """
brewfile build changelog codeowners contributing copying dockerfile gemfile jenkinsfile
justfile license makefile notice procfile rakefile readme vagrantfile workspace
"""
_NAMES: Final = frozenset(_OF_BARE_FILES.split())
# `example.com:80` is a server and its port.
_OF_HOSTS: Final = """
ai app arpa au biz br ca ch cloud cn co com corp de dev edu es eu example fr gov home info int
internal invalid io jp kr lan local localdomain localhost mil net nl online org test tv uk us
xyz
"""
_ENDS_OF_HOSTS: Final = frozenset(_OF_HOSTS.split())
# `/users/list:3` may be anything, but `/etc/passwd:3` is a file.
_OF_A_SYSTEM: Final = lazy_pattern(
    r"/(?:bin|boot|dev|etc|home|lib|mnt|opt|proc|root|run|sbin|srv|sys|tmp|usr|var|Users)/."
)
_PRODUCTS: Final = lazy_pattern(r"(?:node|vue|next|nuxt|react|express|three|d3)\.js", re.IGNORECASE)
_IN_A_PATH: Final = lazy_pattern(_PATH)
_REST: Final = lazy_pattern(rf"(?<!{_PATH}){_PATH}*+$")
_WORD_OF_A_TITLE: Final = lazy_pattern(rf"[{_LETTERS}][{_LETTERS}'’,!?-]*+|&|–")
_LOCAL_HOST: Final = lazy_pattern(
    r"[^.]*|[\d.]+|.*\.(?:local|localhost|internal|lan|test|example|invalid|arpa)"
    r"|(?:.*\.)?example\.(?:com|org|net)",
    re.IGNORECASE,
)


def is_path(path: str) -> bool | None:
    """Whether this text before a line number is the path of a file.

    None if it may be something else (an image with its tag, a key with its value). It is a path
    then only if such a file was read.
    """
    name = path.rpartition("/")[2]
    if len(path) > LONGEST_PATH or "//" in path or not any(c.isalpha() for c in name):
        return False
    if name.lower() in _NAMES:
        return True if name[0].isupper() or "/" in path else None
    if _OF_A_SYSTEM.match(path):
        return True
    stem, dot, extension = name.rpartition(".")
    if not dot or not extension.isalnum() or not any(c.isalpha() for c in extension):
        return None if "/" in path else False
    if not stem:
        return True
    if "/" not in path and extension.lower() in _ENDS_OF_HOSTS:
        return False
    if _PRODUCTS.fullmatch(path):
        return None
    return True if "/" in path or extension.lower() in _EXTENSIONS else None


def is_anchored(path: str) -> bool:
    """Whether a number after `#` is a line, not a part of a page or the number of an issue."""
    extension = path.rpartition(".")[2].lower()
    return extension in _EXTENSIONS - {"js", "md", "mdx", "markdown", "rst", "org", "htm", "html"}


def is_plainly_a_file(path: str) -> bool:
    """Whether this is a file even without a line number right after it.

    `console.log` and `response.json` are usually not files.
    """
    name = path.rpartition("/")[2]
    return name != path or "." not in name or name.rpartition(".")[2].lower() in _DISTINCT


def plain_end(path: str) -> str:
    """What the patterns find of a path with blanks, brackets or letters of other scripts in it."""
    return path[_REST.search(path).start() :]  # pyright: ignore[reportOptionalMemberAccess]


def is_end_of_name(path: str) -> bool:
    """Whether it cannot be the beginning of a path: `.py`, or `/a.py` outside of a system."""
    if path.startswith("/"):
        return _OF_A_SYSTEM.match(path) is None
    return path.startswith(".") and not path.startswith(("./", ".."))


def is_letter_before(text: str, place: int) -> bool:
    """Whether the letter before is one of those that are left out of the patterns."""
    return text[place - 1 : place].isalpha() and not _IN_A_PATH.match(text, place - 1)


def start_of_foreign(text: str, place: int) -> int:
    """Where the run of letters of all scripts and of paths begins that ends at `place`."""
    start = place
    while start > max(0, place - LONGEST_PATH) and (
        text[start - 1].isalnum() or _IN_A_PATH.match(text, start - 1)
    ):
        start -= 1
    return start


def is_title(title: str) -> bool:
    """Whether double brackets that fill a piece of inline code, or have blanks inside, name a note.

    Otherwise they are a test of a shell, a table of TOML or an attribute of C++.
    """
    words = title.split()
    if not all(_WORD_OF_A_TITLE.fullmatch(word) for word in words):
        return False
    return len(words) > 1 or words[0][0].isupper()


def trimmed_url(url: str) -> str:
    """Without the sentence's punctuation at its end, and cut at a bracket that closes too much."""
    depth = 0
    for place, letter in enumerate(url):
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            url = url[:place]
            break
    return url.rstrip(".,;:!?'*_~")


def is_page(url: str) -> bool:
    """Whether it may be a page of the public web: not a local host, not a server with its port."""
    scheme, _, rest = url.partition("://")
    host = rest.partition("/")[0].partition("?")[0].partition("#")[0]
    if scheme.lower() not in ("http", "https") or ":" in host or "@" in host:
        return False
    return _LOCAL_HOST.fullmatch(host) is None


def same_page(url: str) -> str:
    """A form of an address that is equal for the same page."""
    rest = url.partition("://")[2].partition("#")[0]
    host, slash, path = rest.partition("/")
    return f"{host.lower().removeprefix('www.')}{slash}{path}".rstrip("/")
