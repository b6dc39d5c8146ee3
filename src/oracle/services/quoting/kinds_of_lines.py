"""What a line is: the start of a definition, a heading, a comment; and what it is inside of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services.quoting.quotation import Quotation

_PROSE: Final = (".md", ".markdown", ".mdx", ".rst", ".txt", ".adoc", ".org")
_KINDS: Final = "def|class|function|func|fn|struct|interface|trait|enum|type|const|let|var|local"
# A line that opens a definition, in several languages; or a constant at the start of a line. `==`
# is a comparison.
_DEFINES: Final = lazy_pattern(
    rf"\s*(?:(?:async|pub|export|public|private|static|final|abstract|default)\s+){{0,4}}"
    rf"(?:{_KINDS})\s+(?P<name>[\w$.:]+)|^(?P<constant>[A-Za-z_]\w*)\s*(?::[^=\n]{{1,80}})?=(?!=)"
)
_VARIABLE: Final = lazy_pattern(r"\s*(?:export\s+)?(?:const|let|var|local)\b")
# A decorator or a comment, which belongs to what is below it.
_ABOVE: Final = lazy_pattern(r"\s*(?:@|#|//|/\*|\*)")
_EXPORTS: Final = lazy_pattern(
    r"\s*(?:module\.)?exports\b[^(]*$|\s*export\s+(?:default\b|\{)[^(]*$"
)
_UNDERLINE: Final = lazy_pattern(r"([=\-~^\"'*+#.])\1{2,}")


def is_definition(line: str, name: str, *, exactly: bool = False) -> bool:
    """Whether the line defines the name. A plain word may be only a part of the defined name,
    unless it must be `exactly` the name.
    """
    found = _DEFINES.match(line)
    if found is None:
        return False
    defined = (found["name"] or found["constant"]).split(".")[-1]
    return defined == name or (not exactly and name.islower() and name in defined.lower())


def is_export(line: str) -> bool:
    """Whether the line only hands a name to other files: `module.exports = Queue`."""
    return bool(_EXPORTS.match(line))


def names_opened(text: str) -> list[str]:
    """The public names that lines of a text define, also quoted ones: `- `a.py:3`: `class A:``."""
    found = [_DEFINES.match(line.rpartition(": `")[2]) for line in text.split("\n")]
    names = [match["name"].strip(":.").split(".")[-1] for match in found if match and match["name"]]
    return list(dict.fromkeys(name for name in names if not name.startswith("_")))


def enclosing_name(lines: Sequence[str], line: int) -> str:
    """The definition that the line is in, as far as the lines above show it; else empty."""
    depth = depth_of(lines[line])
    for number in range(line - 1, -1, -1):
        above = lines[number]
        if not above.strip() or depth_of(above) >= depth:
            continue
        depth = depth_of(above)
        found = _DEFINES.match(above)
        if found and found["name"] and not _VARIABLE.match(above):
            return found["name"].strip(":.")
    return ""


def opens_definition(line: str) -> bool:
    """Whether the line opens a function, a class or the like; not a variable."""
    found = _DEFINES.match(line)
    return bool(found and found["name"]) and not _VARIABLE.match(line)


def belongs_below(line: str) -> bool:
    """Whether it is a decorator or a comment, which belongs to what is below it."""
    return bool(_ABOVE.match(line))


def depth_of(line: str) -> int:
    return len(line) - len(line.lstrip())


def is_opening(line: str) -> bool:
    """Whether the line opens a public definition at the top level."""
    found = _DEFINES.match(line)
    name = (found["name"] or found["constant"]) if found else "_"
    return not line.startswith((" ", "\t")) and not name.startswith("_")


def is_prose(source: Quotation) -> bool:
    # A source that is cited by a title of its own, such as a ticket, is prose too.
    is_titled = source.path.startswith("[[")
    return source.kind.is_prose or is_titled or source.path.lower().endswith(_PROSE)


def is_heading(lines: Sequence[str], number: int) -> bool:
    """Whether the line is a heading: marked in markdown, underlined in reStructuredText."""
    return bool(level_of_heading(lines, number))


def level_of_heading(lines: Sequence[str], number: int) -> str:
    """The marks of a heading: `##` or `---`. Empty if the line is none. Fewer `#` are higher."""
    if marked := re.match(r"(#{1,6})\s", lines[number]):
        return marked[1]
    line, below = lines[number].rstrip(), "".join(lines[number + 1 : number + 2]).rstrip()
    is_title = line[:1].strip() and re.search(r"\w", line) and _UNDERLINE.fullmatch(below)
    return below[:3] if is_title and len(below) >= min(len(line), 4) else ""
