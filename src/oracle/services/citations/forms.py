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
_RANGE: Final = r"L?\d{1,7}(?:[-–—]L?\d{1,7})?"
# More lines of the same file: `a.py:3,7-9`. After a comma and a blank a number may be anything, for
# example a count or a year. It is a line only if no word follows it.
_MORE: Final = (
    rf"(?P<more>(?>(?:,{_RANGE}(?![{_LETTERS}.:%]\w|[{_LETTERS}%])"
    rf"|,[ ]{_RANGE}(?=$|[;)\]`*]|\.(?:[\s)`*]|$)|[ ]\||,[ ]?L?\d))*))"
)
# `:12`, `:12-20`, `:L12`, `:12:5` (line and column), `#L12`, `#L12-L20`, `#12`. A number with more
# than seven digits is not a line.
_LINES: Final = (
    r"(?::L?(?P<first>\d{1,7})(?:[-–—]L?(?P<last>\d{1,7}))?(?::\d{1,5})?"
    r"|\#L(?P<first_l>\d{1,7})(?:C\d{1,5})?(?:[-–]L?(?P<last_l>\d{1,7})(?:C\d{1,5})?)?"
    r"|\#(?P<first_n>\d{1,7})(?:-(?P<last_n>\d{1,7}))?)"
    rf"{_MORE}"
)
_TIME: Final = r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?Z?)?"
_PREFIX: Final = "|".join(map(re.escape, PREFIXES))
_NOTE: Final = (
    r"\[\[(?P<title>[^\[\]\n|\#^]{1,200}+)"
    r"(?:\#(?P<heading>[^\[\]\n|^]{0,200}+))?(?:\#?\^[^\[\]\n|]{0,200}+)?(?:\|[^\[\]\n]{0,200}+)?\]\]"
)

TOKEN: Final = lazy_pattern(
    rf"""
    (?<![A-Za-z0-9+.\-])(?P<url>[A-Za-z][A-Za-z0-9+.\-]*+://[!\#-;=?-Z_a-z~\u00c0-\u1fff]*+)
    | (?<![{_LETTERS}:/.\-])(?P<prefix>{_PREFIX}):(?P<holder>[^\s@`\[\]()<>"]{{1,200}}+)
      @(?P<time>{_TIME})(?![{_LETTERS}]|:\d)
    | {_NOTE}
    | (?<!{_PATH})(?P<path>{_PATH}++){_LINES}(?=\.*+(?!{_PATH}))
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
    (?: [`*]{{1,4}}+:L?(?P<first>\d{{1,7}})(?:[-–—]L?(?P<last>\d{{1,7}}))?{_MORE}
        (?=\.*+(?!{_PATH}))
      | [`*]{{0,4}}+(?:,?[ ](?:(?:at|on|in)[ ])?|[ ]?(?P<bracket>\())[Ll]ines?[ ]
        (?P<first_w>\d{{1,7}})(?:[ ]?[-–—][ ]?(?P<last_w>\d{{1,7}}))?(?!\w)
        (?P<more_w>(?>(?:(?:,[ ]?|,?[ ](?:and|to|&)[ ]){_RANGE}(?![%\w]|[ ]\w|\.\d))*))
        (?(bracket)\)|)
    )
    """,
    re.VERBOSE | re.MULTILINE,
)
"""A path whose lines are outside its code or bold type, or are given as "line 12"."""

FURTHER: Final = lazy_pattern(r"L?(\d{1,7})(?:[-–—]L?(\d{1,7}))?")

LINK: Final = lazy_pattern(
    r"\[[^\[\]\n]*+\]"
    r"(?:\([^()\s]*+(?:\([^()\s]*+\)[^()\s]*+)*+(?:[ \t]++\"[^\"\n]*+\")?\)"
    r"|\([^()\n]*+(?:\([^()\n]*+\)[^()\n]*+)*+\))"
)
"""A link; its target may have blanks in it, as the names of notes have."""

# Endings that make `name.ending:12` a file and its line.
_OF_FILES: Final = """
adb ads asm astro awk bash bat bazel bib bzl c cc cfg cjs clj cljs cmake cmd coffee conf cpp cr
cs cshtml csproj css csv cu cxx d dart diff dockerfile edn el elm env erl ex exs f f90 fish fs
fsx gleam glsl go gql gradle graphql groovy h haml hbs hcl hh hpp hrl hs htm html hxx i in ini
ino ipynb ipp j2 jade java jinja jinja2 jl js json json5 jsonl jsx kt kts less lisp log lua m
makefile markdown md mdx mjs mk ml mli mm mod mts nim nix org pas patch php pl plist pm po pp
properties proto ps1 psql pug purs pxd py pyi pyw pyx qml r rake rb rego res rkt rmd robot rs
rst s sass sbt scala scm scss sh snap sol sql styl sum sv svelte svg swift tcl tex textile tf
tfvars thrift toml ts tsv tsx txt v vb vhd vim vue wat wgsl xaml xml xsd xsl yaml yml zig zsh
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
_PRODUCTS: Final = lazy_pattern(r"(?:node|vue|next|nuxt|react|express|three|d3)\.js", re.IGNORECASE)
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


def is_title_in_code(title: str) -> bool:
    """Whether double brackets that fill a piece of inline code name a note.

    Otherwise they are a test of a shell, a table of TOML or an attribute of C++.
    """
    words = title.split()
    if not all(_WORD_OF_A_TITLE.fullmatch(word) for word in words):
        return False
    return len(words) > 1 or title[0].isupper()


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
