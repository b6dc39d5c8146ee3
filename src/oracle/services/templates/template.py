"""A named question: its front matter, its placeholders, and the question that they give.

    ---
    description: Review a file
    attach: diff
    defaults:
      depth: short
    ---
    Review {path} for mistakes. Be {depth}.

`{name}` is a placeholder. `{{name}}` gives `{name}`. Other braces stay as they are: `{}`, `${x}`,
`{a: 1}`. In a fenced code block a name is replaced only if it has a value.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final, Literal

from oracle.errors import InputError, SourceFileError, did_you_mean, named
from oracle.lazy_dataclass import dataclass

_BLOCK: Final = re.compile(r"---[ \t]*\n(?P<lines>(?:.*\n)*?)---[ \t]*(?:\n|\Z)")
_ENTRY: Final = re.compile(r"(?P<key>[A-Za-z_]\w*)[ \t]*:[ \t]*(?P<value>.*)")
_KEYS: Final = ("description", "attach", "defaults")
_BRACES: Final = re.compile(
    r"\{\{(?P<literal>[A-Za-z_]\w*)\}\}|(?<![{$])\{(?P<name>[A-Za-z_]\w*)\}"
)
_FENCE: Final = re.compile(r" {0,3}(?P<bar>`{3,}|~{3,})(?P<rest>.*)")
VALUE: Final = re.compile(r"(?P<name>[A-Za-z_]\w*)=(?P<value>.*)", re.DOTALL)
"""How a value is given: `path=src/x.py`."""

Origin = Literal["project", "user"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Filled:
    """The question, and what its template attaches: files, and a diff against a revision."""

    question: str
    files: Sequence[str] = ()
    diff: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Template:
    """`attach` are paths, `diff` or `diff REVISION`, each with or without placeholders.

    The text of a project's template comes from others: it can say what to ask and what files of the
    project to attach, and nothing else.
    """

    name: str
    origin: Origin
    body: str
    file: str = ""
    description: str = ""
    attach: Sequence[str] = ()
    defaults: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def placeholders(self) -> list[str]:
        """Those that need a value, in the order of the text."""
        texts = [*(text for text, is_code in _parts(self.body) if not is_code), *self.attach]
        return list(dict.fromkeys(name for text in texts for name in _names_in(text)))

    def fill(self, given: Mapping[str, str], more: str = "") -> Filled:
        """Raises `InputError` for names that are missing, and for names that it does not have."""
        self._check(given)
        values = {**self.defaults, **given}
        question = "".join(
            _replaced(text, values, is_code=is_code) for text, is_code in _parts(self.body)
        )
        attach = [_replaced(each, values, is_code=False) for each in self.attach]
        diffs = [each for each in attach if each.split(" ")[0] == "diff"]
        return Filled(
            question="\n\n".join(filter(None, (question.strip(), more.strip()))),
            files=[each for each in attach if each not in diffs],
            diff=diffs[0].removeprefix("diff").strip() if diffs else None,
        )

    def _check(self, given: Mapping[str, str]) -> None:
        known = list(dict.fromkeys([*self.placeholders, *self.defaults, *_names_in(self.body)]))
        if unknown := [name for name in given if name not in known]:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise InputError(
                f"question {named(self.name)} has no placeholder {', '.join(map(named, unknown))}"
                f"{did_you_mean(unknown[0], known, step=has)}"
            )
        wanted = self.placeholders
        if missing := [name for name in wanted if name not in given and name not in self.defaults]:
            # The whole command: one without the values that were given would need them again.
            values = [f"{name}={shlex.quote(value)}" for name, value in given.items()]
            example = " ".join([*values, *(f"{name}=…" for name in missing)])
            raise InputError(
                f"question {named(self.name)} needs {', '.join(missing)}; write: "
                f"oracle ask -t {self.name} {example}"
            )


def parse_template(text: str, *, name: str, origin: Origin, file: str) -> Template:
    """Raises `SourceFileError` with the line of the mistake."""
    text = text.replace("\r\n", "\n").removeprefix("\ufeff")
    block = _BLOCK.match(text)
    if block is None and text.startswith("---\n"):
        raise SourceFileError(
            "the front matter does not end; add a line `---` after it", file=file, line=1
        )
    entries = _entries(block["lines"] if block else "", file)
    body = text[block.end() :] if block else text
    if not body.strip():
        raise SourceFileError("the question is empty; write one below", file=file)
    attach = entries.get("attach", {}).get("", "").strip("[]")
    return Template(
        name=name,
        origin=origin,
        file=file,
        body=body,
        description=entries.get("description", {}).get("", ""),
        attach=[part for each in attach.split(",") if (part := _unquoted(each))],
        defaults={key: value for key, value in entries.get("defaults", {}).items() if key},
    )


def _entries(block: str, file: str) -> dict[str, dict[str, str]]:
    """By key: its value under the empty name, and the indented names below it."""
    found: dict[str, dict[str, str]] = {}
    last = ""
    # The first line of the file is `---`, so the block begins at line 2.
    for number, line in enumerate(block.splitlines(), start=2):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        entry = _ENTRY.fullmatch(line.strip())
        if entry is None:
            problem = f"{named(line.strip())} is not of the form `key: value`"
            raise SourceFileError(problem, file=file, line=number)
        key, value = entry["key"], _unquoted(entry["value"])
        if line[:1].isspace() and last == "defaults":
            found[last][key] = value
            continue
        if key not in _KEYS:
            hint = did_you_mean(key, _KEYS) or f"; known are {', '.join(_KEYS)}"
            raise SourceFileError(f"unknown key {named(key)}{hint}", file=file, line=number)
        found[key] = {"": value}
        last = key
    return found


def _unquoted(text: str) -> str:
    text = text.strip()
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if is_quoted else text


def _names_in(text: str) -> list[str]:
    return [found["name"] for found in _BRACES.finditer(text) if found["name"]]


def _replaced(text: str, values: Mapping[str, str], *, is_code: bool) -> str:
    """In one pass, so that braces in a value stay as they are."""

    def value_of(found: re.Match[str]) -> str:
        if found["literal"]:
            return found[0] if is_code else f"{{{found['literal']}}}"
        return values.get(found["name"], found[0])

    replace: Callable[[re.Match[str]], str] = value_of
    return _BRACES.sub(replace, text)


def _parts(body: str) -> Iterator[tuple[str, bool]]:
    """The text in parts, each with whether it is inside a fenced code block."""
    part: list[str] = []
    bar = ""
    for line in body.splitlines(keepends=True):
        fence = _FENCE.match(line)
        if fence and not bar:
            yield "".join(part), False
            part, bar = [line], fence["bar"]
        elif fence and fence["bar"].startswith(bar) and not fence["rest"].strip():
            yield "".join([*part, line]), True
            part, bar = [], ""
        else:
            part.append(line)
    # A fence that is never closed is not a code block.
    yield "".join(part), False
