"""What the signal parser must do, said again: for whole texts, slowly, and with other means.

It shares no code with the parser. The property tests and the fuzz target compare the two.
"""

import re
from dataclasses import dataclass, field

LIMIT = 4096
OPENING = re.compile(r"<signal(?:[ \t\r\n\f\v>]|/>)", re.IGNORECASE | re.ASCII)
TAG = re.compile(r"<signal(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*>", re.IGNORECASE)
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
    while (at := window.find("<", at)) >= 0:
        rest = window[at:]
        closing = re.match(r"</signal[ \t\r\n]*>", rest, re.IGNORECASE | re.ASCII)
        if closing:
            return at + closing.end()
        if re.match(r"<signal\s", rest, re.IGNORECASE | re.ASCII):
            return None
        mark = next((mark for mark in sections if rest.lower().startswith(mark)), None)
        if mark is None:
            at += 1
        elif sections[mark] in rest[len(mark) :]:
            at = window.index(sections[mark], at + len(mark)) + 3
        else:
            at += len(mark)
            sections = {}
    return None


@dataclass
class Fence:
    closing: str


def opened_fence(line: str, lead: str, in_list: bool) -> Fence | None:
    opening = re.match(r"(`{3,})[^`\n]*\n|(~{3,})[^\n]*\n", line)
    marks = r"([ \t]*(>|[-*+][ \t]|[0-9]{1,9}[.)][ \t]))*[ \t]*"
    indentation = re.match(r"[ \t]*", lead)[0]
    if not opening or len(line) > LIMIT or OPENING.search(line) or not re.fullmatch(marks, lead):
        return None
    if len(lead) >= 64 or (len(indentation.expandtabs(4)) > 3 and not in_list):
        return None
    run = opening[1] or opening[2]
    before = "[ \t>]*" if ">" in lead else f"[ \t]{{0,{max(3, len(lead.expandtabs(4)))}}}"
    return Fence(closing=f"{before}{run[0]}{{{len(run)},}}[ \t\r]*")


def pass_fence(text: str, opening: int, body: int, fence: Fence, expected: Expected) -> int:
    at = body
    while at < len(text):
        line_end = text.find("\n", at) if "\n" in text[at:] else len(text)
        if line_end - at < LIMIT and re.fullmatch(fence.closing, text[at:line_end]):
            end = at + len(text[at:line_end].rstrip())
            return pass_closed_fence(text, opening, body, at, end, expected)
        at = line_end + 1
    return pass_open_fence(text, opening, body, expected)


def pass_closed_fence(
    text: str, opening: int, body: int, body_end: int, end: int, expected: Expected
) -> int:
    content = text[body:body_end].strip()
    is_wrap = not text[end:].strip() and OPENING.match(content)
    if is_wrap and element_end(content[:LIMIT]) == len(content):
        expected.elements.append(content)
    else:
        expected.shown += text[opening:end]
    return end


def pass_open_fence(text: str, opening: int, body: int, expected: Expected) -> int:
    shown_until = len(text)
    at = body
    while match := OPENING.search(text, at):
        end = element_end(text[match.start() : match.start() + LIMIT])
        at = match.start() + (end or len("<signal"))
        if end is not None and not text[at:].strip():
            expected.elements.append(text[match.start() : at])
            shown_until = match.start() if text[body : match.start()].strip() else opening
            break
    else:
        at = len(text)
    expected.shown += text[opening:shown_until] + text[at:]
    return len(text)
