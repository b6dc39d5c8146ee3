"""Lists the granted tools for the prompt, sorted, so that the order of granting has no effect."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from oracle.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oracle.models.tool_spec import ToolSpec

_LONGEST_SENTENCE = 160
_FIRST_SENTENCE = lazy_pattern(
    r".*?(?:(?<!\b[A-Z])(?<!\b[A-Z][a-z])(?<!\be\.g)(?<!\bi\.e)[.!?](?=\s[^a-z]|$)|[。！？]|$)"
)
"""The text up to the first full stop. A stop after an initial or an abbreviation (`Dr.`, `e.g.`)
does not end a sentence, and the next sentence does not begin in lower case.
"""


_CHOOSE = "Take the one that fits what you know:"
_KNOWN = (
    ("read", "the place"),
    ("uses", "a name (function, class, setting), and where is it defined or used"),
    ("search", "words that the source contains"),
    ("map", "only the subject; it shows which files matter"),
    ("list", "nothing yet; it shows what there is"),
    ("facts", "that it is about the project as a whole (install, test, licence, changes)"),
    ("members", "what things are called of which all are wanted (commands, signals, hooks)"),
    ("write", "what to write, because the user asked for it"),
)


def list_tools(tools: Iterable[ToolSpec], *, brief: bool = False) -> str:
    """One line for each tool. If `brief`: its name and the first sentence of its description."""
    in_order = sorted(tools, key=lambda tool: (tool.name, tool.description))
    return "\n".join(map(_brief_line if brief else _full_line, in_order))


def list_choices(tools: Iterable[ToolSpec]) -> str:
    """Which tool to take, by what the model knows. With one or two kinds there is no choice."""
    names: defaultdict[str | None, list[str]] = defaultdict(list)
    for tool in sorted(tools, key=lambda tool: tool.name):
        names[tool.role].append(f"`{tool.name}`")
    choices = [f"- {known}: {', '.join(names[role])}" for role, known in _KNOWN if role in names]
    return "\n".join([_CHOOSE, *choices]) if len(choices) > 2 else ""


def _full_line(tool: ToolSpec) -> str:
    return f"- `{tool.name}({_parameters(tool)})`{_mark(tool)}: {_one_line(tool.description)}"


def _brief_line(tool: ToolSpec) -> str:
    description = _one_line(tool.description)
    sentence = match[0] if (match := _FIRST_SENTENCE.match(description)) else description
    if len(sentence) > _LONGEST_SENTENCE:
        sentence = sentence[:_LONGEST_SENTENCE].rstrip() + "…"
    return f"- `{tool.name}`{_mark(tool)}: {sentence}"


def _mark(tool: ToolSpec) -> str:
    return " (writes)" if tool.writes else ""


def _parameters(tool: ToolSpec) -> str:
    """The names in the order of the schema, with `?` after the optional ones."""
    required = tool.parameters.get("required", ())
    names = tool.parameters.get("properties", {})
    return _one_line(", ".join(name if name in required else f"{name}?" for name in names))


def _one_line(text: str) -> str:
    """On one line: a description may come from another server and must not begin a section."""
    return " ".join(text.split())
