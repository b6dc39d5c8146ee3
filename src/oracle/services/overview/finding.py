"""Find the lines that answer a question about the project as a whole, best first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services.overview.changelog import changelogs, changes_in, latest_changes, versions_with
from oracle.services.overview.literal_places import places_of_option, places_of_text
from oracle.services.overview.manifests import MANIFESTS, entries, tables
from oracle.services.overview.places import Place, Reader, Section, sections_of, trimmed
from oracle.services.overview.topics import ROWS, Row, Topic

MOST_PLACES: Final = 4
_MOST_LINES: Final = 28
_MOST_DOCUMENTS: Final = 60
_BUILD_FILES: Final = (
    "Makefile",
    "GNUmakefile",
    "makefile",
    "justfile",
    "Justfile",
    "tox.ini",
    "noxfile.py",
)
_DOCUMENT: Final = lazy_pattern(
    r".*\.(?:md|mkd|rst|markdown|adoc|txt|[1-8](?:\.in)?)$|(?:.*/)?(?:README|CONTRIBUTING|SECURITY|INSTALL)$",
    re.I,
)
_TAKEN: Final = lazy_pattern(r"=\s*[a-z_][\w.]*(?:\[|\(|\s*,?\s*$)", re.I)
_FOR_DOCUMENTS: Final = ("", ".github", "docs", "doc")
_README: Final = lazy_pattern(r"readme(?:\.\w+)?$", re.I)
_OF_TOOLS: Final = lazy_pattern(
    r"(?:^|/)(?:tests?|examples?|benchmarks?|vendor|node_modules|fixtures|\.\w[^/]*)/|\.egg-info/"
)
_DECORATION: Final = lazy_pattern(
    r"\s*(?:$|[=\-~^*#]{3,}\s*$|#|<[^>]*>|</|\[!\[|!\[|\.\. |:\w+:|\[[^\]]+\]:|\||---|```"
    r"|[-*+] |\$ |> ?[#\[!])"
)
_TITLE: Final = lazy_pattern(r"[=\-~^*#]{3,}\s*$")
_OPENING_LINES: Final = 100
_LICENSED: Final = lazy_pattern(
    r"\b(?:licen[cs]ed|distributed|released|published|available|covered)\b.{0,40}\bunder\b"
    r"|\bunder the (?:terms|conditions)\b|\bpublic domain\b",
    re.I,
)
_SCRIPT: Final = lazy_pattern(r"\b(?:npm run|pnpm(?: run)?|yarn(?: run)?|bun run) ([\w:.-]+)")
_FURTHER_SCRIPTS: Final = 2
_SAYS_SOMETHING: Final = lazy_pattern(r"(?:\W*\w+){4}")
_SAYS_WHAT: Final = lazy_pattern(
    r"\b(?:is|are|provides?|lets|allows?|helps?|implements?|offers?|enables?|aims?|gives?|makes?)\b",
    re.I,
)
_REFERRAL: Final = 4
"""A README says in so many lines or fewer where to read on."""


def places_for(
    reader: Reader, topic: Topic, *, version: str = "", words: Sequence[str] = ()
) -> list[Place]:
    """The best places, best first; none if the project does not say it.

    `words` narrow it down to lines that have all of them.
    """
    if topic == "changes":
        if words:
            return versions_with(reader, words)
        return changes_in(reader, version) if version else latest_changes(reader)
    if topic == "option":
        return _apart([*places_of_option(reader, words)])[:MOST_PLACES]
    if topic == "text":
        return _apart(places_of_text(reader, " ".join(words)))[:MOST_PLACES]
    found = [*_of_manifests(reader, topic), *_of_files(reader, topic)]
    found += _said_in_readmes(reader, _LICENSED) if topic == "licence" else []
    found += _openings(reader) if topic == "about" else _of_documents(reader, topic)
    if words:
        found = [narrow for place in found for narrow in _narrowed(reader, place, words)]
        found += _lines_with(reader, ROWS[topic], words)
    best = sorted(found, key=lambda place: -place.worth)
    return _apart(best)[:MOST_PLACES]


def name_of(reader: Reader) -> str:
    """The project's name, from its manifest or the title of its README; empty if unknown."""
    for path in _manifests(reader):
        lines = reader.read(path)
        for start, _ in entries(path, lines, "name|module"):
            found = re.search(r"(?:[=:]|module)\s*[\"']?([^\"',\s]+)", lines[start], re.I)
            if found:
                return found[1].rpartition("/")[2]
    for path in _readmes(reader):
        titles = [section.title for section in sections_of(reader.read(path))]
        if titles:
            return titles[0].strip("`*_ ")
    return ""


def _manifests(reader: Reader) -> list[str]:
    known = set(reader.paths)
    return [name for name in MANIFESTS if name in known]


def _readmes(reader: Reader) -> list[str]:
    return [path for path in reader.paths if _README.fullmatch(path)]


def _of_manifests(reader: Reader, topic: Topic) -> Iterator[Place]:
    row = ROWS[topic]
    for rank, path in enumerate(_manifests(reader)):
        lines = reader.read(path)
        is_fact = row.commands is None or row.is_declared
        spans = [*entries(path, lines, row.keys, of_the_project=is_fact)] if row.keys else []
        spans += [*tables(lines, row.tables)] if row.tables and not path.endswith(".json") else []
        # A PKG-INFO has one line for each dependency: together they are the answer.
        spans = _joined(spans) if row.is_declared else spans
        if path == "package.json" and spans:
            # `test` may only name other scripts: those are what runs.
            spans = [spans[0], *_scripts_run_by(path, lines, spans[0]), *spans[1:]]
        for start, end in spans[: 4 if row.is_declared else 3]:
            # A PKG-INFO has the README after its first blank line; there a key is prose.
            if path != "PKG-INFO" or all(line.strip() for line in lines[:start]):
                worth = _worth_of_entry(row, lines[start : end + 1]) - 0.1 * rank
                yield Place(path=path, start=start + 1, end=end + 1, worth=worth)
    if not row.targets and topic != "test":
        return
    for path in _BUILD_FILES:
        if path in set(reader.paths):
            lines = reader.read(path)
            spans = [*entries(path, lines, row.targets or row.keys)]
            spans += [*tables(lines, row.tables)] if row.tables else []
            for start, end in spans[:2]:
                yield Place(path=path, start=start + 1, end=end + 1, worth=4.0)


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Entries that follow each other, as one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _scripts_run_by(
    path: str, lines: Sequence[str], span: tuple[int, int]
) -> list[tuple[int, int]]:
    """The entries of the scripts that this entry runs, the named ones of its own topic first."""
    named = _SCRIPT.findall("\n".join(lines[span[0] : span[1] + 1]))
    found = (entries(path, lines, re.escape(name)) for name in dict.fromkeys(named))
    return [each for spans in found for each in spans if each != span][-_FURTHER_SCRIPTS:]


def _said_in_readmes(reader: Reader, said: re.Pattern[str]) -> Iterator[Place]:
    """The first paragraph of each README that says it, whatever heading it is below."""
    for path in _readmes(reader):
        lines = reader.read(path)
        number = next((n for n, line in enumerate(lines) if said.search(line)), None)
        if number is not None:
            start, end = _paragraph(lines, number)
            yield Place(path=path, start=start + 1, end=end + 1, worth=5.5)


def _worth_of_entry(row: Row, lines: Sequence[str]) -> float:
    """A manifest says what things are. How something is done, a document says better."""
    if row.commands is None:
        # `author=meta["author"]` only says where it is taken from.
        return 3.0 if _TAKEN.search(lines[0]) else 5.0
    if row.is_declared:
        return 5.5
    return 4.5 if any(map(row.commands.search, lines)) else 2.5


def _of_files(reader: Reader, topic: Topic) -> Iterator[Place]:
    row = ROWS[topic]
    for path in reader.paths if row.files else ():
        folder, _, name = path.rpartition("/")
        if row.files and row.files.fullmatch(name) and folder in _FOR_DOCUMENTS:
            lines = reader.read(path)
            start = next((n for n, line in enumerate(lines) if line.strip()), 0)
            inner = (
                s.start for s in sections_of(lines) if row.within and row.within.search(s.title)
            )
            start = next(inner, start)
            _, stop = trimmed(lines, start, len(lines), row.lines)
            yield Place(path=path, start=start + 1, end=max(stop, start + 1), worth=6.0)


def _openings(reader: Reader) -> Iterator[Place]:
    """The paragraph of each README or start page that says what it is, and the one after it."""
    starts = [p for p in reader.paths if re.fullmatch(r"docs?/index\.\w+", p)]
    for path in [*_readmes(reader), *starts]:
        lines = reader.read(path)
        paragraphs = _paragraphs(lines[:_OPENING_LINES])
        if not paragraphs:
            continue
        heads = [s for s in sections_of(lines) if s.level > 1 or s.start > 30]
        second = next((s.start for s in heads), len(lines))
        early = [pair for pair in paragraphs if pair[0] < second]
        # A slogan says less than the first paragraph that says what it is or does.
        saying = [pair for pair in early if any(map(_SAYS_WHAT.search, lines[pair[0] : pair[1]]))]
        first, end = (saying or early or paragraphs)[0]
        following = [pair for pair in early if pair[0] >= end and pair[1] - first < 14]
        worth = 7.0 if early else 4.0
        end = following[0][1] if following else end
        titles = [s.start for s in sections_of(lines) if s.start < first <= s.start + 4]
        start = titles[-1] if titles else first
        worth -= 0.0 if _README.fullmatch(path) else 3.0
        yield Place(path=path, start=start + 1, end=end, worth=worth)


def _paragraphs(lines: Sequence[str]) -> list[tuple[int, int]]:
    """The first line and the end of each paragraph of prose; no lists, badges or titles."""
    found: list[tuple[int, int]] = []
    number = 0
    while number < len(lines):
        end = number
        while end < len(lines) and lines[end].strip():
            end += 1
        if (
            end > number
            and _is_prose(lines[number])
            and not _TITLE.match("".join(lines[number + 1 : number + 2]))
        ):
            found.append((number, end))
        number = max(end, number) + 1
    return found


def _is_prose(line: str) -> bool:
    return not _DECORATION.match(line) and bool(_SAYS_SOMETHING.match(line))


def _of_documents(reader: Reader, topic: Topic) -> Iterator[Place]:
    row = ROWS[topic]
    if row.headings is None:
        return
    name = name_of(reader)
    for path in _documents(reader, row):
        lines = reader.read(path)
        for section in sections_of(lines):
            worth, line = _worth_of_section(lines, section, row, name)
            if worth:
                start, stop = _window(lines, section, line)
                yield Place(path=path, start=start + 1, end=stop, worth=worth - _rank(path, row))


def documents_of(reader: Reader) -> list[str]:
    """The project's documents; no changelogs, which say what was."""
    logs = set(changelogs(reader))
    found = [
        path
        for path in reader.paths
        if _DOCUMENT.fullmatch(path) and path not in logs and not _OF_TOOLS.search(path)
    ]
    return found[: 4 * _MOST_DOCUMENTS]


def _documents(reader: Reader, row: Row) -> list[str]:
    """Documents that may say it, the likeliest first."""
    found = sorted(documents_of(reader), key=lambda p: (_rank(p, row), p.count("/")))
    return found[:_MOST_DOCUMENTS]


def _rank(path: str, row: Row) -> float:
    """README first, then pages about the topic, then other pages; deep ones last."""
    name = path.rpartition("/")[2].partition(".")[0]
    if _README.fullmatch(path) or (row.files and row.files.fullmatch(path)):
        return 0.0
    if row.pages and row.pages.fullmatch(name):
        return 0.3 + 0.2 * path.count("/")
    return 1.0 + 0.3 * path.count("/")


def _worth_of_section(
    lines: Sequence[str], section: Section, row: Row, name: str
) -> tuple[float, int]:
    """How well the section answers, and the line that does it; 0 if it does not."""
    has_heading = bool(row.headings and row.headings.search(section.title))
    hits = [
        n
        for n in range(section.start + 1, section.own_end)
        if row.commands and row.commands.search(lines[n])
    ]
    if not has_heading and not hits:
        return 0.0, section.start
    named = [n for n in hits if row.is_named and name and name.lower() in lines[n].lower()]
    worth = 3.0 * has_heading + 2.0 * bool(hits) + 1.5 * bool(named)
    is_short = section.end - section.start <= _REFERRAL
    if row.commands is None:
        return worth + (0.0 if is_short else 1.0), section.start
    return worth if hits or not is_short else worth - 1.0, (named or hits or [section.start])[0]


def _window(lines: Sequence[str], section: Section, line: int) -> tuple[int, int]:
    """From the heading, if the line that answers is still shown then."""
    start = section.start
    if line - section.start >= _MOST_LINES - 8:
        # At the start of a paragraph, so that no block of code begins in its middle.
        blanks = [n for n in range(section.start, line - 2) if not lines[n].strip()]
        start = blanks[-1] + 1 if blanks else max(section.start, line - 6)
    end = section.end if section.own_end - section.start < 6 else section.own_end
    return trimmed(lines, start, end, _MOST_LINES)


def _lines_with(reader: Reader, row: Row, words: Sequence[str]) -> Iterator[Place]:
    """Paragraphs of the documents that have all words on a line that says it, such as `X >= 5`."""
    patterns = [re.compile(rf"(?<![^\W_]){re.escape(word)}(?![^\W\d_])", re.I) for word in words]
    for path in _documents(reader, row):
        lines = reader.read(path)
        for number, line in enumerate(lines):
            if row.commands and row.commands.search(line) and all(p.search(line) for p in patterns):
                start, end = _paragraph(lines, number)
                worth = 6.0 - _rank(path, row)
                yield Place(path=path, start=start + 1, end=end + 1, worth=worth)
                break


def _paragraph(lines: Sequence[str], number: int) -> tuple[int, int]:
    start = end = number
    while start > 0 and lines[start - 1].strip() and number - start < 4:
        start -= 1
    while end + 1 < len(lines) and lines[end + 1].strip() and end - number < 6:
        end += 1
    return start, end


def _narrowed(reader: Reader, place: Place, words: Sequence[str]) -> list[Place]:
    lines = reader.read(place.path)
    patterns = [re.compile(rf"(?<![^\W_]){re.escape(word)}", re.I) for word in words]
    for number in range(place.start - 1, min(place.end, len(lines))):
        if all(pattern.search(lines[number]) for pattern in patterns):
            return [Place(path=place.path, start=number + 1, end=number + 1, worth=place.worth)]
    return []


def _apart(found: Sequence[Place]) -> list[Place]:
    """Each place once, and no two that overlap; at most two of one file, three of scripts."""
    kept: list[Place] = []
    for place in found:
        same = [other for other in kept if other.path == place.path]
        most = 3 if place.path == "package.json" else 2
        if len(same) < most and not any(
            place.start <= other.end and other.start <= place.end for other in same
        ):
            kept.append(place)
    return kept
