"""Evidence is what went out in a request: no more, and no less because of later ones."""

from oracle.services.control.gathered import after_request, attached_places
from oracle.services.control.shortening import LEFT_OUT, with_content, without_middle
from oracle.services.control.shown import places_of
from oracle.services.tools.answer import quotation


def source(path, count=40):
    text = "\n".join(f"line {n} of {path}" for n in range(1, count + 1))
    where = f"{path}:1-{count}"
    return {"kind": "code", "where": where, "text": text, "path": path, "start": 1, "end": count}


def result(call, *sources, turn=1, **more):
    content = "\n".join(map(quotation, sources)) or "Done."
    shown = {"role": "tool", "call_id": call, "name": "read_file", "success": True}
    return {**shown, "content": content, "sources": [*sources], "turn": turn, **more}


def gathered(call, *sources, turn=1):
    return places_of(sources, turn=turn, call=call)


def wheres(places):
    return [place["where"] for place in places]


def test_what_was_sent_whole_stays_whole():
    evidence = gathered("c", source("a.py"))
    assert after_request(evidence, [result("c", source("a.py"))], [], turn=1) == evidence


def test_what_was_cut_before_it_was_sent_counts_as_far_as_it_went():
    message = result("c", source("a.py"))
    cut = with_content(message, message["content"].partition("line 9 of")[0])
    assert wheres(after_request(gathered("c", source("a.py")), [cut], [], turn=1)) == ["a.py:1-8"]


def test_what_was_left_out_does_not_count():
    cut = with_content(result("c", source("a.py")), LEFT_OUT)
    for messages in ([cut], []):
        assert after_request(gathered("c", source("a.py")), messages, [], turn=1) == []


def test_what_an_earlier_request_had_shown_stays():
    evidence = gathered("c", source("a.py"), turn=1)
    cut = with_content(result("c", source("a.py"), turn=1), LEFT_OUT)
    assert after_request(evidence, [cut], [], turn=2) == evidence


def test_what_was_read_again_counts_when_it_is_shown():
    """The second time the call is a repeat, which is not noted as new."""
    message = result("c", source("a.py"), turn=2)
    assert wheres(after_request([], [message], [], turn=2)) == ["a.py:1-40"]


def test_a_result_without_a_place_is_named_by_its_tool():
    message = result("c", content="The build is green.")
    assert wheres(after_request([], [message], [], turn=1)) == ["read_file"]
    for other in ({"empty": True}, {"success": False}):
        assert after_request([], [{**message, **other}], [], turn=1) == []


def part(state, *sources):
    return {"state": state, "sources": [*sources], "role": "read"}


def test_of_parts_counts_what_the_model_has_read():
    parts = [
        part("whole", source("whole.py")),
        part("extracted", source("extracted.py")),
        part("quoted", source("quoted.py")),
        part("nothing", source("nothing.py")),
        part("left", source("left.py")),
    ]
    line = {"kind": "code", "where": "quoted.py:4", "text": "line 4"}
    messages = [
        result("coverage-part-0", source("whole.py")),
        result("coverage-part-1", line, is_extract=True),
        result("coverage-part-2", line, is_extract=True),
        {"role": "system", "content": "…", "coverage": {}, "turn": 1},
    ]
    found = [
        place for n in range(5) for place in gathered(f"coverage-part-{n}", *parts[n]["sources"])
    ]
    shown = after_request(
        [*found, *gathered("coverage-search-0", source("hit.py"))], messages, parts, turn=1
    )
    assert wheres(shown) == [
        "whole.py:1-40",
        "extracted.py:1-40",
        "quoted.py:4",
        "nothing.py:1-40",
    ]


DIFF = "".join(
    f"--- a/m{n}.py\n+++ b/m{n}.py\n@@ -1,2 +1,2 @@\n same {n}\n-old line {n}\n+new line {n}\n"
    for n in range(40)
)


def test_what_was_cut_out_of_the_middle_of_a_question_does_not_count():
    files = [source(f"f{n}.py") for n in range(4)]
    content = "Why?\n" + "\n".join(["Attached:", DIFF, *map(quotation, files)])
    asked = {"role": "user", "content": content, "sources": files, "attachment": DIFF}
    evidence = attached_places(files, [DIFF])
    assert after_request(evidence, [asked], [], turn=0) == evidence
    shown = without_middle(content, 1_000)
    found = after_request(evidence, [with_content(asked, shown)], [], turn=0)
    assert {place["path"] for place in found} == {*(f"m{n}.py" for n in range(9)), "f3.py"}
    for place in found:
        assert all(line in shown for line in place["text"].split("\n"))


def test_an_attached_file_without_text_is_not_evidence():
    blank = {"kind": "code", "where": "b.py:1-2", "text": "\n", "path": "b.py"}
    empty = {"kind": "code", "where": "e.py", "text": "", "path": "e.py"}
    assert wheres(attached_places([empty, blank, source("a.py")], [""])) == ["a.py:1-40"]
