"""Recognise a request to write a note or an entry of a thread."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final, Literal

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern

_POLITE: Final = (
    r"^\s*(?:ok(?:ay)?,?\s+|and\s+|now\s+|please,?\s+|(?:can|could|would|will) you\s+(?:please\s+)?"
    r"|i(?:'d| would) like you to\s+|let'?s\s+)*"
)
_VERB: Final = (
    r"(?:write|create|add|make|save|draft|take|leave|jot|put|record|log|push|append|note|overwrite"
    r"|replace)"
)
_NAME: Final = r"[`'\"]?(?P<name>[\w-]+)[`'\"]?"
_TO: Final = r"(?:in|to|into|on|under)\s+(?:the\s+|a\s+|our\s+)?"
_SAYS: Final = r"\s*(?:[:,-]|that\b|saying\b|with\b)*\s*"
_FLAGS: Final = re.I | re.S
_WITH: Final = r"\b[^:\n]{0,40}?\b"
_THREADS: Final = (rf"thread\s+{_NAME}", rf"{_NAME}\s+thread")
# "add to the thread NAME: TEXT" and "record TEXT in the NAME thread".
_ENTRIES: Final = tuple(
    lazy_pattern(pattern, _FLAGS)
    for thread in _THREADS
    for pattern in (
        rf"{_POLITE}{_VERB}{_WITH}{_TO}{thread}{_SAYS}(?P<text>.+)",
        rf"{_POLITE}{_VERB}\s+(?:that\s+)?(?P<text>.+?)\s+{_TO}{thread}\s*[.!]?\s*$",
    )
)
_NOTE: Final = lazy_pattern(
    rf"{_POLITE}{_VERB}(?:\s+(?:me|us|down|up|this|it|as|a|an|the|new|short|another|quick))*"
    r"\s+note\b(?P<rest>.*)",
    _FLAGS,
)
_NOTE_THAT: Final = lazy_pattern(
    rf"{_POLITE}(?:note(?:\s+down)?|remember|write down|jot down)(?:\s+that\b|\s*:)\s*(?P<rest>.+)",
    _FLAGS,
)
_TITLED: Final = lazy_pattern(
    r"\s*(?:titled|called|named)\s+(?:[`'\"](?P<quoted>[^`'\"\n]+)[`'\"]|(?P<bare>[^:\n]+?))"
    r"\s*(?:(?:[:,]|that says\b|saying\b|with(?: the)?(?: content| text)?\b|about\b)"
    r"\s*(?P<text>.*))?$",
    _FLAGS,
)
_ABOUT: Final = lazy_pattern(
    r"\s*(?:about|on|for|regarding|describing|explaining|summari[sz]ing)\s+(?P<title>[^:\n]+?)"
    r"\s*(?:[:\n]\s*(?P<text>.*))?$",
    _FLAGS,
)
_SAYS_IT: Final = lazy_pattern(r"\s*(?:(?:that says|that|saying)\b\s*:?|:)\s*(?P<text>.*)", _FLAGS)
_CHANGE: Final = lazy_pattern(
    rf"{_POLITE}(?:fix|delete|remove|rename|deploy|refactor|implement|change|update|edit|write|create"
    r"|add|install|commit|push|merge|move|replace|generate)\s+\w",
    re.I,
)
_ASKS_NICELY: Final = lazy_pattern(r"\s*(?:can|could|would|will) you\b", re.I)
# Bounds the time of the patterns. The text to write is not a part of the command.
_LONGEST_COMMAND: Final = 1_000
# Takes the place of the text while the command is matched, so that its words cannot be taken for a
# part of the command.
_BODY: Final = "\x00"
_TITLE_WORDS: Final = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class WriteRequest:
    """`target` is the note's title or the thread's name. Without `text` the content is searched."""

    kind: Literal["vault", "threads"]
    target: str
    text: str
    overwrite: bool = False

    @property
    def what(self) -> str:
        return "the note" if self.kind == "vault" else "an entry in the thread"

    @property
    def arguments(self) -> dict[str, object]:
        if self.kind == "threads":
            return {"thread": self.target, "entry": self.text}
        given: dict[str, object] = {"title": self.target, "content": self.text}
        return {**given, "overwrite": True} if self.overwrite else given

    def saying(self, text: str) -> WriteRequest:
        return replace(self, text=text)


def request_in(question: str, attachment: str = "") -> WriteRequest | None:
    """None if nothing should be written. A question about notes is not a request for one."""
    divider = _end_of(question)
    command, _, body = question.strip().partition(divider)
    said = " ".join(command.split())
    if len(said) > _LONGEST_COMMAND or (not body and _is_question(said)):
        return None
    command = f"{said}: {_BODY}" if body.strip() else said
    request = _entry(command, attachment) or _note(command, attachment)
    return request and _with_body(request, body.strip())


def _end_of(question: str) -> str:
    """The first colon or line end divides the command from the text to write."""
    found = re.search(r":(?=\s)|\n", question.strip())
    return found[0] if found else "\n"


def _with_body(request: WriteRequest, body: str) -> WriteRequest:
    text = request.text.replace(_BODY, _tidy(body))
    target = _title(text) if _BODY in request.target else request.target
    return replace(request, text=text, target=target)


def _is_question(said: str) -> bool:
    return said.endswith("?") and not _ASKS_NICELY.match(said)


def asks_for_a_change(question: str) -> bool:
    """Whether it asks for a change of the project that this model cannot make."""
    said = " ".join(question[:_LONGEST_COMMAND].split())
    # The end of the whole question counts, not of the part that is cut out above.
    is_question = question.rstrip().endswith("?") and not _ASKS_NICELY.match(said)
    return not is_question and bool(_CHANGE.match(said))


def _entry(question: str, attachment: str) -> WriteRequest | None:
    for pattern in _ENTRIES:
        found = pattern.match(question)
        if found and found["name"].lower() not in ("a", "the", "this", "that", "new"):
            text = _tidy(found["text"])
            is_pointer = text.lower() in ("this", "it", "that")
            body = attachment if is_pointer and attachment else text
            return WriteRequest(kind="threads", target=found["name"], text=body)
    return None


def _note(question: str, attachment: str) -> WriteRequest | None:
    overwrite = bool(re.search(r"\b(?:overwrite|replace)\b", question.split(":")[0], re.I))
    if found := _NOTE_THAT.match(question):
        text = _tidy(found["rest"]).removesuffix("?")
        return WriteRequest(kind="vault", target=_title(text), text=text, overwrite=overwrite)
    found = _NOTE.match(question)
    if found is None:
        return None
    title, text = _title_and_text(found["rest"])
    text = text or attachment
    if not title and not text:
        return None
    return WriteRequest(kind="vault", target=title or _title(text), text=text, overwrite=overwrite)


def _title_and_text(rest: str) -> tuple[str, str]:
    if titled := _TITLED.match(rest):
        return (titled["quoted"] or titled["bare"]).strip(), _tidy(titled["text"] or "")
    if about := _ABOUT.match(rest):
        return _tidy(about["title"]).rstrip(".?!"), _tidy(about["text"] or "")
    says = _SAYS_IT.match(rest)
    return "", _tidy(says["text"]) if says else ""


def _tidy(text: str) -> str:
    return text.strip().strip("\"'").strip() if text.strip()[:1] in "\"'" else text.strip()


def _title(text: str) -> str:
    if text == _BODY:
        return text
    words = re.findall(r"[\w'-]+", text.split("\n")[0])
    return " ".join(words[:_TITLE_WORDS]) or "Note"
