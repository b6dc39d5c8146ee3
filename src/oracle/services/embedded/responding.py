"""Choose the response to a situation: talk, write, search further, or answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from oracle.models.source_kind import SourceKind, kind_named
from oracle.services.control.unfinished_answer import NOTHING_ATTACHED, NOTHING_PIPED
from oracle.services.embedded.answering import answer, web_failed, words_missing
from oracle.services.embedded.attachments import (
    NO_JUDGEMENT,
    about_file,
    asks_to_judge,
    facts_of,
    places_in,
)
from oracle.services.embedded.broad_answer import (
    answer_broadly,
    answer_with_all_uses,
    answer_with_the_way,
)
from oracle.services.embedded.judging import SURE, certainty
from oracle.services.embedded.listing import (
    answer_with_members,
    answer_with_uses,
    members_calls,
    uses_calls,
)
from oracle.services.embedded.note_writing import write
from oracle.services.embedded.own_words import with_notice
from oracle.services.embedded.project_answer import answer_from_facts, facts_calls
from oracle.services.embedded.response import Response, quoted, signal
from oracle.services.embedded.searching import (
    Aim,
    aim_of,
    best_of,
    closer_calls,
    constant_calls,
    first_calls,
    mapped_calls,
    new_searches,
    other_calls,
    related_calls,
)
from oracle.services.embedded.situation import Call, Situation
from oracle.services.embedded.small_talk import talk
from oracle.services.embedded.write_requests import request_in
from oracle.services.questions.search_words import is_generic, points_at_a_text
from oracle.services.quoting.passages import Passage, passages
from oracle.services.quoting.quotation import Quotation
from oracle.services.quoting.terms import terms_for
from oracle.services.tools.answer import code
from oracle.services.tools.lookup import NOT_ALL_SEARCHED
from oracle.services.tools.offered import ToCall, read_call

# So many turns without a call may report `stuck`; then the answer says that nothing was found.
_MOST_STUCK_TURNS: Final = 2


def respond(situation: Situation) -> Response:
    aim = aim_of(situation)
    response = _respond(situation, aim)
    if response.calls or not response.text:
        return response
    response = _with_what_was_left_out(situation, response)
    return replace(response, text=with_notice(response.text, aim.own.language))


def _with_what_was_left_out(situation: Situation, response: Response) -> Response:
    """A better place may be in a file that was not searched, so the answer is not whole."""
    contents = (call.content for call in situation.calls if NOT_ALL_SEARCHED in call.content)
    note = next((re.search(rf"{NOT_ALL_SEARCHED}[^\n]*", content) for content in contents), None)
    if note is None:
        return response
    told = response.signal
    if "context_sufficient" in told:
        told = signal("partial_answer", 0.5, missing="what the files say that were not searched")
    return replace(response, text=f"{response.text}\n\n{note[0].strip()}", signal=told)


def _respond(situation: Situation, aim: Aim) -> Response:
    if request := request_in(situation.question, situation.attachment):
        return write(situation, request, aim)
    if situation.attached_texts:
        return read_attachment(situation, aim)
    if situation.attached_files:
        return read_files(situation, aim)
    if situation.is_pipe_empty and points_at_a_text(situation.question):
        return _nothing_piped_in()
    return talk(situation) or look(situation, aim)


def _nothing_piped_in() -> Response:
    """The question points at a text that is not there. A search would answer another question."""
    text = (
        "Nothing was piped in, so I do not know what the question is about. Check the command "
        "before the pipe: `git diff`, for example, prints nothing if no file has changed."
    )
    return Response(text=text, signal=signal("partial_answer", 0.9, missing=NOTHING_PIPED))


def read_attachment(situation: Situation, aim: Aim) -> Response:
    """Facts about it, and the places of the project that it names, if they can be read."""
    texts = situation.attached_texts
    places = [place for text in texts for place in places_in(text)]
    calls = [
        call
        for path, line in places
        if (call := read_call(situation.tools, "code", path, (max(1, line - 3), line + 3)))
    ]
    if calls and not situation.calls_of("read"):
        return _go(calls, "Reading the places that the attached text names", 1)
    attached = {file.where for file in situation.attached_files}
    # The tree may have searched too. What that found has nothing to do with the text.
    found = [quotation for call in situation.calls_of("read") for quotation in call.quotations]
    named = [s for s in found if s.where not in attached and _has_one_of(s, places)]
    parts = [facts_of(text, aim.own.all) for text in texts]
    parts += [about_file(file) for file in situation.attached_files]
    parts += [
        f"In the project, {code(source.where)}:\n\n{quoted(source.lines, source.path)}"
        for source in named
    ]
    text = "\n\n".join(parts)
    return Response(
        text=text,
        signal=signal("context_sufficient", 0.6, sources_found=len(parts)),
    )


def _has_one_of(quotation: Quotation, places: Sequence[tuple[str, int]]) -> bool:
    lines = range(quotation.first, quotation.first + len(quotation.lines))
    return any(quotation.path == path and line in lines for path, line in places)


def read_files(situation: Situation, aim: Aim) -> Response:
    """The lines of the attached files that fit the question. If words of the question are not in
    them, the project is searched too. Without words, say what the files hold.
    """
    files = situation.attached_files
    if asks_to_judge(situation.question):
        about = _about(files)
        return replace(about, text=f"{about.text}\n\n{NO_JUDGEMENT}")
    found = passages(files, terms_for(aim.words, files), prefers_prose=aim.words.asks_what)
    if found and not words_missing(aim, found):
        return answer(situation, aim, found)
    if not situation.tools or all(map(is_generic, aim.words.all)):
        return answer(situation, aim, found) if found else _about(files)
    further = look(situation, aim)
    return further if further.calls else _with_files_first(situation, aim, found)


def _with_files_first(situation: Situation, aim: Aim, found: Sequence[Passage]) -> Response:
    """What the user attached comes first, however well other places fit."""
    attached = {file.where for file in situation.attached_files}
    others = [p for p in best_of(situation, aim) if p.source.where not in attached]
    about = _about(situation.attached_files)
    if found:
        return answer(situation, aim, [*found, *others])
    if not others:
        return about
    further = answer(situation, aim, others)
    return replace(further, text=f"{about.text}\n\n{further.text}")


def _about(files: Sequence[Quotation]) -> Response:
    text = "\n\n".join(map(about_file, files))
    if not any(line.strip() for file in files for line in file.lines):
        return Response(text=text, signal=signal("partial_answer", 0.9, missing=NOTHING_ATTACHED))
    return Response(text=text, signal=signal("context_sufficient", 0.5, sources_found=len(files)))


def look(situation: Situation, aim: Aim) -> Response:
    """Search, read the best places, answer. If nothing was found try other ways, then `stuck`."""
    if situation.lacks:
        return _without(situation, kind_named(situation.lacks))
    if calls := facts_calls(situation, aim) or uses_calls(situation, aim):
        return _go(calls, "Asking a tool that answers such questions", 1)
    if found_directly := next(filter(None, (way(situation, aim) for way in _DIRECT)), None):
        return found_directly
    found = best_of(situation, aim)
    if not situation.tools:
        return _from(situation, aim, found)
    if wish := _other_sources(situation, aim, found):
        return wish
    if not situation.calls_of("search"):
        calls = [*members_calls(situation, aim), *first_calls(situation, aim)]
        why = f"Searching for {', '.join(aim.words.all)}"
        return _go(calls, why, 2) if calls else answer(situation, aim, found)
    if not found:
        return _into_the_project(situation) or _another_way(situation, aim)
    if fresh := first_calls(situation, aim, new_searches(situation)):
        return _go(fresh, "Searching the source that was granted", 1)
    if not situation.calls_of("read") or _has_new_search(situation):
        calls = closer_calls(situation, found)
        if calls:
            return _reading(calls, found)
    if not situation.failed and (calls := constant_calls(situation, aim, found)):
        return _go(calls, "Looking up the constants that are named there", 1)
    if calls := _related_calls(situation, aim, found):
        return _go(calls, "Searching for related words", 2)
    return _from(situation, aim, found)


def _reading(calls: Sequence[ToCall], found: Sequence[Passage]) -> Response:
    return _go(calls, f"Reading the best places: {_places(found)}", 1)


def _from(situation: Situation, aim: Aim, found: Sequence[Passage]) -> Response:
    report = situation.coverage
    covered = answer_broadly(situation, aim, report, found) if report is not None else None
    return covered or answer(situation, aim, found)


def _related_calls(situation: Situation, aim: Aim, found: Sequence[Passage]) -> list[ToCall]:
    """The project may say it in other words: once, a search for these, if no place is sure."""
    if situation.failed or aim.words.names or certainty(situation, aim, found) >= SURE:
        return []
    return related_calls(situation, aim, found)


def _without(situation: Situation, kind: SourceKind) -> Response:
    """The question needs a kind of source that no tool searches."""
    text = f"Only the {kind.name} could answer this, and it cannot be searched here: {kind.setup}."
    return Response(
        text=text,
        signal=signal("partial_answer", 0.9, missing=f"what the {kind.name} says about it"),
    )


def _into_the_project(situation: Situation) -> Response | None:
    """If the web cannot be searched, ask for tools for the project: it may have the answer."""
    is_only_the_web = all(call.searches_the_web for call in situation.calls)
    if not is_only_the_web or not situation.failed or _silent_turns(situation):
        return None
    if situation.local_tools("search"):
        return None
    return Response(
        text="The web cannot be searched; I look into the project instead.",
        signal=signal(
            "need_capability",
            0.7,
            capability="look into the repository, its documentation and decisions",
            reason="the web cannot be searched, and the project itself may say it",
        ),
    )


def _other_sources(situation: Situation, aim: Aim, found: Sequence[Passage]) -> Response | None:
    """Ask for the search in documents or code that the question's class does not get.

    A new user's "how do I …" is answered by documents, whatever the words look like, so these are
    asked for at once. The rest is asked for if what was found is not sure to answer.
    """
    was_asked = any(not turn for turn in situation.turns)
    if was_asked or situation.failed or not situation.local_tools("search"):
        return None
    words = aim.words
    is_for_documents = words.asks_what or words.asks_why or words.asks_for_a_value
    if situation.tool("search", "vault") is None and not words.names and is_for_documents:
        return _wish("search the documentation", "documents may say it")
    if not situation.calls_of("search", "read") or certainty(situation, aim, found) >= SURE:
        return None
    lacking = [kind for kind in ("vault", "code") if situation.tool("search", kind) is None]
    return (
        _wish(f"search the {_SOUGHT[lacking[0]]}", "what was found is not sure")
        if lacking
        else None
    )


def _has_new_search(situation: Situation) -> bool:
    """Whether a search came after the last reading: its best places were not read yet."""
    roles = [call.role for call in situation.calls]
    return "search" in roles and roles[::-1].index("search") < (
        roles[::-1].index("read") if "read" in roles else len(roles)
    )


_DIRECT: Final = (
    answer_from_facts,
    answer_with_all_uses,
    answer_with_the_way,
    answer_with_members,
    answer_with_uses,
)
_SOUGHT: Final = {"vault": "documentation", "code": "code of the repository"}


def _wish(capability: str, reason: str) -> Response:
    return Response(
        text="I look into another source.",
        signal=signal("need_capability", 0.7, capability=capability, reason=reason),
    )


def _another_way(situation: Situation, aim: Aim) -> Response:
    if fresh := first_calls(situation, aim, new_searches(situation)):
        return _go(fresh, f"{_so_far(situation)}; looking into another source", 2)
    if calls := other_calls(situation, aim):
        return _go(calls, f"{_so_far(situation)}; trying other words and ways", 2)
    if calls := mapped_calls(situation, aim):
        return _go(calls, "Reading files whose names fit the question", 1)
    if _silent_turns(situation) < _MOST_STUCK_TURNS and not web_failed(situation):
        return _stuck(situation, aim)
    return answer(situation, aim, ())


def _so_far(situation: Situation) -> str:
    failed = list(dict.fromkeys(call.name for call in situation.failed))
    return f"{', '.join(failed)} failed" if failed else "Nothing was found so far"


def _silent_turns(situation: Situation) -> int:
    """How many turns at the end called nothing: each of them reported that no way is left."""
    called = [bool(turn) for turn in situation.turns]
    return len(called) - max((place + 1 for place, some in enumerate(called) if some), default=0)


def _stuck(situation: Situation, aim: Aim) -> Response:
    tried = [f"{call.name}({_first_argument(call)})" for call in situation.calls]
    blocker = f"nothing was found for {', '.join(aim.words.all) or 'the question'}"
    if situation.failed:
        names = dict.fromkeys(call.name for call in situation.failed)
        blocker += f"; {', '.join(names)} failed"
    return Response(
        text=answer(situation, aim, ()).text,
        signal=signal("stuck", 0.6, attempted=tried or ["no tool"], blocker=blocker),
    )


def _first_argument(call: Call) -> str:
    return str(next(iter(call.arguments.values()), ""))[:60]


def _go(calls: Sequence[ToCall], why: str, turns: int) -> Response:
    return Response(calls=calls, signal=signal("need_turn", 0.8, reason=why, expected_turns=turns))


def _places(found: Sequence[Passage]) -> str:
    return ", ".join(passage.where for passage in found[:3])
