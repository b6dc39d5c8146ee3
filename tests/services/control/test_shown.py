"""A source keeps the lines that are left in the content, whoever made the content."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.services.control.shortening import cut_results, with_content, without_middle
from oracle.services.control.shown import places_of, sources_in
from oracle.services.tools.answer import Answer, as_result, place, quotation


def file(path="src/a.py", start=1, count=100, word="step"):
    lines = "\n".join(f"{word} {number} of {path}" for number in range(start, start + count))
    where = f"{path}:{start}-{start + count - 1}"
    source = {"kind": "code", "where": where, "text": lines, "path": path, "start": start}
    return {**source, "end": start + count - 1, "whole": True}


def cut(content, tokens):
    return cut_results([content], tokens, ["Ask for less."])[0]


def ranges(sources):
    return [(source["path"], source["start"], source["end"]) for source in sources]


def test_what_was_not_cut_is_as_it_was():
    result = as_result(Answer(summary="Two.", findings=[file(), file("src/b.py")]))
    content = result["content"]
    assert sources_in(result["sources"], content, content) == result["sources"]


@given(st.integers(80, 2_000))
def test_of_a_file_only_the_lines_before_the_cut_are_left(tokens):
    result = as_result(Answer(summary="Read.", findings=[file()]))
    shown = cut(result["content"], tokens)
    numbers = [n for n in range(1, 101) if f"step {n} of src/a.py\n" in shown]
    found = sources_in(result["sources"], result["content"], shown)
    assert ranges(found) == ([("src/a.py", 1, numbers[-1])] if numbers else [])
    for source in found:
        assert source["where"] == place("src/a.py", 1, numbers[-1])
        assert source["text"].split("\n")[-1] == f"step {numbers[-1]} of src/a.py"
        assert ("whole" in source) is (len(numbers) == 100)


def test_a_place_whose_name_alone_is_left_is_not_a_source():
    result = as_result(Answer(summary="Read.", findings=[file()]))
    shown = result["content"].partition("step 1")[0] + "\n[shortened]"
    assert "src/a.py:1-100" in shown
    assert sources_in(result["sources"], result["content"], shown) == []


def test_later_places_go_before_earlier_ones_are_cut():
    findings = [file("src/a.py", 5, 10), file("src/b.py", 5, 10), file("src/c.py", 5, 10)]
    result = as_result(Answer(summary="Found.", findings=findings))
    shown = result["content"].partition("step 9 of src/b.py")[0] + "\n[shortened]"
    found = sources_in(result["sources"], result["content"], shown)
    assert ranges(found) == [("src/a.py", 5, 14), ("src/b.py", 5, 8)]


def test_the_same_text_in_two_files_counts_only_where_it_is_shown():
    pages = [
        {"kind": "web", "where": f"https://x.org/{n}", "url": f"https://x.org/{n}", "text": "Same."}
        for n in range(2)
    ]
    content = "\n\n".join(map(quotation, pages))
    shown = content[: content.index("https://x.org/1")]
    assert [source["where"] for source in sources_in(pages, content, shown)] == ["https://x.org/0"]


def test_a_single_line_is_not_taken_for_the_end_of_another_number():
    long = {"kind": "code", "where": "a.py:11", "path": "a.py", "start": 11, "end": 11, "text": "x"}
    short = {**long, "where": "b.py:1", "path": "b.py", "start": 1, "end": 1}
    content = f"{quotation(long)}\n\n{quotation(short)}"
    shown = content[: content.index("From b.py")]
    assert ranges(sources_in([long, short], content, shown)) == [("a.py", 11, 11)]


def test_a_source_can_be_cut_again():
    result = as_result(Answer(summary="Read.", findings=[file(count=120)]))
    message = {"role": "tool", "content": result["content"], "sources": result["sources"]}
    for last in (60, 8, 3):
        content = message["content"].partition(f"step {last + 1} of")[0].rstrip("0123456789 ")
        message = with_content(message, f"{content}[shortened]")
        assert ranges(message["sources"]) == [("src/a.py", 1, last)]
    gone = with_content(message, "[left out]")
    assert "sources" not in gone


def test_a_text_without_its_middle_leaves_two_pieces():
    content = f"What is this?\n\n{quotation(file())}"
    shown = without_middle(content, 1_200)
    first, last = sources_in([file()], content, shown)
    assert (first["start"], last["end"]) == (1, 100)
    assert first["end"] + 1 < last["start"]
    missing = [f"step {n} of src/a.py" in shown for n in range(first["end"] + 2, last["start"] - 1)]
    assert not any(missing)


@pytest.mark.parametrize(("left", "ends"), [(500, [3]), (30, [])])
def test_of_a_very_long_line_its_beginning_is_enough(left, ends):
    source = {"kind": "code", "where": "a.py:3", "path": "a.py", "start": 3, "end": 3}
    source["text"] = "word " * 1_000
    shown = source["text"][:left] + "\n[shortened]"
    assert [one["end"] for one in sources_in([source], source["text"], shown)] == ends


def test_a_content_of_another_form_is_compared_line_by_line():
    source = {"kind": "own", "where": "[[Plan]]", "text": "first thing\nsecond thing\nthird thing"}
    content = '{"items": ["first thing", "second thing", "third thing"]}'
    found = sources_in([source], content, content[:45])
    assert [one["text"] for one in found] == ["first thing\nsecond thing"]


def test_of_a_map_the_rows_that_are_shown_are_left():
    rows = [{"path": f"m{n}.py"} for n in range(9)]
    text = "\n".join(row["path"] for row in rows)
    tree = {"kind": "code", "where": ".", "path": ".", "text": text, "listed": rows}
    content = quotation(tree)
    (found,) = sources_in([tree], content, content[: content.index("m4.py")] + "[shortened]")
    assert found["listed"] == rows[:4]


@pytest.mark.parametrize("text", ["", "\n\n\n", " \t ", "\u200b\n"])
def test_a_source_without_visible_text_is_not_evidence(text):
    source = {"kind": "code", "where": "a.py:1", "text": text}
    assert places_of([source], turn=1, call="c") == []


def test_a_place_without_a_text_counts_next_to_a_text_that_names_it():
    named = {"kind": "code", "where": "b.py:3", "text": ""}
    places = places_of(
        [{"kind": "own", "where": "[[X]]", "text": "see b.py:3"}, named], turn=1, call="c"
    )
    assert [place["where"] for place in places] == ["[[X]]", "b.py:3"]
