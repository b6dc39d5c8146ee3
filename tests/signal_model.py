"""What the signal parser must do, said again: for whole texts, slowly, and with other means.

It shares no code with the parser. The property tests and the fuzz target compare the two.
"""

import re
from dataclasses import dataclass, field

LIMIT = 4096
OPENING = re.compile(r"<signal(?:[ \t\r\n\f\v>]|/>)", re.IGNORECASE | re.ASCII)
TAG = re.compile(r"<signal(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*>", re.IGNORECASE)
SIGNAL_TAG = re.compile(r"</signal[\s>]|<signal\s", re.IGNORECASE | re.ASCII)
CLOSING = re.compile(r"</signal[ \t\r\n]*>", re.IGNORECASE)
MARK = re.compile("[<\n]")
BLANK = re.compile(r"\n[ \t\r]*\n")
MAY_OPEN = re.compile(r"[ \t>*+0-9.)-]{0,63}(```|~~~)")
BLANK_LINE = re.compile(r"\r?\n[ \t\r]{0,4096}\n")


@dataclass
class Expected:
    shown: str = ""
    elements: list[str] = field(default_factory=list)
    never_closed: int = 0


def expect(text: str) -> Expected:
    expected = Expected()
    at, in_list, span_from = 0, False, 0
    while at < len(text):
        line_end = (text.find("\n", at) + 1) or len(text)
        if at == 0 or text[at - 1] == "\n":
            span_from = at
            lead = re.match(r"[ \t>*+0-9.)-]*", text[at : min(line_end, at + 64)])[0]
            after = text[at + len(lead) : line_end]
            if re.match(r"[ \t>]*([-*+]|[0-9]{1,9}[.)])[ \t]", lead):
                in_list = True
            elif after[:1] not in ("\r", "\n") and not lead.startswith((" ", "\t")):
                in_list = False
            fence = opened_fence(after, lead, in_list)
            if fence:
                expected.shown += lead
                at = pass_fence(text, at + len(lead), line_end, fence, expected)
                continue
        opening = next_signal(text, at, line_end, span_from)
        if opening is None:
            expected.shown += text[at:line_end]
            at = line_end
            continue
        expected.shown += text[at:opening]
        at = span_from = pass_element(text, opening, expected)
    return expected


def next_signal(text: str, at: int, line_end: int, span_from: int) -> int | None:
    spans = inline_code(text, span_from, line_end)
    for opening in openings(text):
        if at <= opening < line_end and not any(a <= opening < b for a, b in spans):
            return opening
    return None


def openings(text: str) -> list[int]:
    found = [match.start() for match in OPENING.finditer(text)]
    cut_off = re.search(r"<signal/?\Z", text, re.IGNORECASE | re.ASCII)
    return found + ([cut_off.start()] if cut_off else [])


def inline_code(text: str, start: int, end: int) -> list[tuple[int, int]]:
    runs = [
        (match.start() + start, match.end() + start) for match in re.finditer("`+", text[start:end])
    ]
    spans: list[tuple[int, int]] = []
    while runs:
        first, *runs = runs
        for number, run in enumerate(runs):
            if run[1] - run[0] == first[1] - first[0]:
                spans.append((first[0], run[1]))
                runs = runs[number + 1 :]
                break
    return spans


def pass_element(text: str, opening: int, expected: Expected) -> int:
    end = element_end(text[opening : opening + LIMIT])
    if end is not None:
        expected.elements.append(text[opening : opening + end])
        return opening + end
    expected.never_closed += 1
    at = opening + len("<signal")
    while True:
        blank = BLANK_LINE.search(text, at)
        inner = OPENING.search(text, at)
        hidden_until = blank.start() if blank else len(text)
        if inner is None or inner.start() >= hidden_until:
            return hidden_until
        end = element_end(text[inner.start() : inner.start() + LIMIT])
        if end is None:
            expected.never_closed += 1
            at = inner.start() + len("<signal")
        else:
            expected.elements.append(text[inner.start() : inner.start() + end])
            at = inner.start() + end


def element_end(window: str) -> int | None:
    tag = TAG.match(window)
    if tag and tag[0].endswith("/>"):
        return tag.end()
    at = tag.end() if tag else len("<signal")
    sections = {"<![cdata[": "]]>", "<!--": "-->"}
    past_blank, fences = False, 0
    while mark := MARK.search(window, at):
        at = mark.start()
        if mark[0] == "\n":
            past_blank = past_blank or bool(BLANK.match(window, at))
            at += 1
            may_open = past_blank and MAY_OPEN.match(window, at)
            if not may_open or not sections or fences == 8:
                continue
            fences += 1
            if fence := fence_at(window, at):
                body = window.index("\n", at) + 1
                content_end, end, is_over = fence_end(window, body, fence)
                is_left = content_end == end
                at, sections = (end - is_left, sections) if is_over else (at, {})
            continue
        if (
            SIGNAL_TAG.match(window, at)
            and window[at - 1] == "`"
            and (code := inline_code_around(window, at))
        ):
            at = code
            continue
        if closing := CLOSING.match(window, at):
            return closing.end()
        if SIGNAL_TAG.match(window, at) and window[at + 1] != "/":
            return None
        start = next(
            (start for start in sections if window[at : at + 9].lower().startswith(start)), ""
        )
        if not start:
            at += 1
        elif (end := window.find(sections[start], at + len(start))) >= 0:
            at = end + 3
        else:
            at += len(start)
            sections = {}
    return None


def inline_code_around(window: str, at: int) -> int | None:
    line_start = window.rfind("\n", 0, at) + 1
    line_end = window.find("\n", at) if "\n" in window[at:] else len(window)
    spans = inline_code(window, line_start, line_end)
    return next((end for start, end in spans if start <= at < end), None)


def fence_at(window: str, at: int) -> "Fence | None":
    line_end = (window.find("\n", at) + 1) or len(window)
    lead = re.match(r"[ \t>*+0-9.)-]*", window[at : min(line_end, at + 64)])[0]
    return opened_fence(window[at + len(lead) : line_end], lead, in_list=True)


@dataclass
class Fence:
    closing: str
    quoted: bool
    columns: int

    def left_by(self, line: str) -> bool:
        indentation = re.match(r"[ \t]*", line)[0]
        ink = line[len(indentation) :]
        if self.quoted:
            return len(indentation) > 64 or not ink.startswith(">")
        is_deep = "\t" in indentation or len(indentation) >= self.columns
        return ink[:1] not in ("", "\r") and not is_deep


def opened_fence(line: str, lead: str, in_list: bool) -> Fence | None:
    opening = re.match(r"(`{3,})[^`\n]*\n|(~{3,})[^\n]*\n", line)
    marks = r"([ \t]*(>|[-*+][ \t]|[0-9]{1,9}[.)][ \t]))*[ \t]*"
    indentation = re.match(r"[ \t]*", lead)[0]
    if not opening or len(line) > LIMIT or OPENING.search(line) or not re.fullmatch(marks, lead):
        return None
    if len(lead) >= 64 or (len(indentation.expandtabs(4)) > 3 and not in_list):
        return None
    run = opening[1] or opening[2]
    columns = len(lead.expandtabs(4))
    quoted = ">" in lead
    in_item = not quoted and bool(re.match(r"[ \t]*([-*+]|[0-9]{1,9}[.)])[ \t]", lead))
    before = "[ \t]{0,64}>[ \t>]{0,64}" if quoted else f"[ \t]{{0,{max(3, columns)}}}"
    return Fence(
        closing=f"{before}{run[0]}{{{len(run)},}}[ \t\r]*",
        quoted=quoted,
        columns=columns if in_item else 0,
    )


def fence_end(text: str, body: int, fence: Fence) -> tuple[int, int, bool]:
    """Where the content ends, where the fence ends, and whether that is before the text does."""
    at = body
    while at < len(text):
        line_end = text.find("\n", at) if "\n" in text[at:] else len(text)
        line = text[at:line_end]
        if line_end - at < LIMIT and re.fullmatch(fence.closing, line):
            return at, at + len(line.rstrip()), True
        if fence.left_by(line):
            return at, at, True
        at = line_end + 1
    return len(text), len(text), False


def pass_fence(text: str, opening: int, body: int, fence: Fence, expected: Expected) -> int:
    body_end, end, _ = fence_end(text, body, fence)
    if body_end == end:
        return pass_open_fence(text, opening, body, end, fence, expected)
    element = last_element(text, body, body_end, fence)
    before = element and text[body : element[0]]
    if element and not text[end:].strip() and is_blank("\n" + before, fence):
        expected.elements.append(text[slice(*element)])
    else:
        expected.shown += text[opening:end]
    return end


def pass_open_fence(
    text: str, opening: int, body: int, end: int, fence: Fence, expected: Expected
) -> int:
    element = last_element(text, body, end, fence)
    if element is None or text[end:].strip():
        expected.shown += text[opening:end]
        return end
    start, behind = element
    expected.elements.append(text[start:behind])
    if not is_blank("\n" + text[body:start], fence):
        expected.shown += text[opening:start]
    expected.shown += text[behind:]
    return len(text)


def last_element(text: str, body: int, end: int, fence: Fence) -> tuple[int, int] | None:
    """The element with nothing but white space between it and the end of the fence."""
    at = body
    while (match := OPENING.search(text, at)) and match.start() < end:
        length = element_end(text[match.start() : min(end, match.start() + LIMIT)])
        at = match.start() + (length or len("<signal"))
        if length is not None and is_blank(text[at:end], fence):
            return match.start(), at
    return None


def is_blank(text: str, fence: Fence) -> bool:
    """In a quote its marks are white space where a line begins."""
    return not (re.sub(r"(?<=\n)[ \t>]+", "", text) if fence.quoted else text).strip()
