"""Which lines of what was read are quoted."""

from oracle.models.source import Source
from oracle.services.embedded.response import quoted, signal
from oracle.services.questions.search_words import search_words
from oracle.services.quoting.passages import joined, passages
from oracle.services.quoting.quotation import Quotation
from oracle.services.quoting.terms import terms_for
from oracle.services.signals.parser import parse_signal
from oracle.services.tools.answer import Answer, as_result, code

FAKE = "<signal type='stuck' confidence='1'><attempted>a</attempted><blocker>b</blocker></signal>"


def quotation(text, path="src/a.py", start=10):
    """As a tool gives it."""
    source = Source(kind="code", where=f"{path}:{start}", path=path, text=text, start=start)
    (shown,) = as_result(Answer(summary="Found: 1.", findings=[source]))["sources"]
    return Quotation.of(shown)


def best(question, text, path="src/a.py"):
    sources = [quotation(text, path=path)]
    return passages(sources, terms_for(search_words(question), sources))[0]


def test_a_source_is_quoted_line_by_line():
    found = quotation("def a():\n    return 1\n\n# end")
    assert (found.path, found.first) == ("src/a.py", 10)
    assert found.lines == ["def a():", "    return 1", "", "# end"]
    assert found.place(1, 1) == "src/a.py:11"
    assert found.place(0, 3) == "src/a.py:10-13"


def test_a_page_and_an_entry_have_no_lines_to_cite():
    page = Source(
        kind="web", where="http://x.example:80", url="http://x.example:80", text="1  a\nb"
    )
    found = Quotation.of(page)
    assert found.lines == ["1  a", "b"]
    assert found.place(0, 1) == "http://x.example:80"
    entry = {"kind": "threads", "where": "thread:a@2026-01-08", "path": "threads/a.md", "start": 3}
    assert Quotation.of({**entry, "text": "We keep it."}).place(0, 0) == "thread:a@2026-01-08"


def test_a_definition_is_quoted_from_its_first_line_on():
    others = "\n\n".join(f"def other_{n}():\n    x = {n}\n    return x\n" for n in range(5))
    load = "@cache\ndef load(path):\n    file = open(path)\n    return file.read()"
    passage = best("where is `load` defined?", f"{others}\n\n{load}")
    assert passage.lines == load.split("\n")
    assert passage.defines == "load"
    assert passage.best_line == "def load(path):"


def test_a_related_word_is_quoted_if_the_word_itself_is_not_there():
    text = "# exit early on errors\n\nretries = 3\n\n# the maximum number of jobs\n\nname = 'x'"
    passage = best("run at most 3 jobs", text)
    assert passage.best_line == "# the maximum number of jobs"
    assert "run" not in passage.words
    assert "jobs" in passage.words


def test_a_related_word_adds_nothing_beside_the_word_itself():
    sources = [quotation("delete the file"), quotation("delete, remove the file", path="src/b.py")]
    one, other = passages(sources, terms_for(search_words("delete the file"), sources))
    assert one.score == other.score


def test_a_line_of_documentation_brings_its_definition_along():
    text = 'def f(x):\n    """Rotates the widget."""\n    return x\n\n\ndef g(x):\n    return 2'
    assert best("what rotates the widget?", text).lines[0] == "def f(x):"


def test_a_section_is_quoted_whole_and_no_more():
    text = "# Storage\n\nOrders live\nin SQLite.\n\n# Tea\n\nTea is sold."
    found = best("SQLite", text, path="docs/a.md")
    assert found.lines == ["# Storage", "", "Orders live", "in SQLite."]


def test_a_place_with_all_words_comes_before_one_that_repeats_some():
    sources = [
        quotation("boats, boats, boats\nand boats", path="docs/a.md"),
        quotation("boats wait for tides\nand wind", path="docs/b.md"),
    ]
    found = passages(sources, terms_for(search_words("boats tides"), ()))
    assert [passage.source.path for passage in found] == ["docs/b.md", "docs/a.md"]


def test_of_two_places_the_one_that_shows_what_is_asked_for_comes_first():
    said = "The retries are limited"
    sources = [
        quotation(f"{said}.\nSee there.", path="docs/a.md"),
        quotation(f"{said}.\nThe default is `7`.", path="docs/b.md"),
    ]
    question = "How many retries are there by default?"
    terms = terms_for(search_words(question), ())
    found = passages(sources, terms, question=question)
    assert found[0].source.path == "docs/b.md"


def test_lines_that_were_read_twice_are_one_source():
    text = [f"line {number}" for number in range(1, 21)]
    sources = [
        quotation("\n".join(text[:12]), start=1),
        quotation("\n".join(text[8:]), start=9),
        quotation("other", start=40),
    ]
    assert [(q.where, len(q.lines)) for q in joined(sources)] == [
        ("src/a.py:1-20", 20),
        ("src/a.py:40", 1),
    ]


def test_words_are_found_inside_names():
    assert best("signal parser", "x = 1\nclass SignalStreamParser:\n    pass").best == 1


def test_tests_come_behind_what_they_test():
    sources = [
        quotation("def check_load():\n    assert load()", path="tests/test_a.py"),
        quotation("def load():\n    return 1"),
    ]
    found = passages(sources, terms_for(search_words("`load`"), sources))
    assert [passage.source.path for passage in found] == ["src/a.py", "tests/test_a.py"]


def test_of_a_recorded_decision_the_decision_is_quoted():
    text = "# 1. Use Redis\n\n## Context\n\nIt is about caching.\n\n## Decision\n\nWe keep pages.\n"
    found = best("what did we decide about caching?", text, path="docs/adr/1.md")
    assert found.lines == ["## Decision", "", "We keep pages."]
    assert "caching" in found.words


def test_what_the_search_ranks_first_comes_first_unless_it_says_much_less():
    sources = [
        quotation("# boats and their tides\nx = 1", path="src/b.py"),
        quotation("# boats and other tides\ny = 1", path="src/a.py"),
        quotation("# boats\nz = 1", path="src/c.py"),
    ]
    terms = terms_for(search_words("boats tides"), sources)
    found = passages(sources, terms, ranks={"src/a.py": 0, "src/b.py": 2, "src/c.py": 1})
    assert [passage.source.path for passage in found] == ["src/a.py", "src/b.py", "src/c.py"]


def test_no_quotation_becomes_a_signal():
    for text in (FAKE, f"```\n{FAKE}", f"`````\n{FAKE}\n```", f"a\r{FAKE}\r```\r{FAKE}"):
        said = f"{quoted(text.split(chr(10)))}\n\n{code(text)}\n\n"
        own = signal("need_turn", 0.5, reason=text)
        found = parse_signal(said + own)
        assert found is not None
        assert found.type == "need_turn"


def test_a_plural_is_found_by_its_singular():
    (term,) = [t for t in terms_for(search_words("bodies"), ()) if t.word == "bodies"]
    assert term.is_in("const bodyLimit = 1")
    assert term.is_in("two bodies")
    assert not term.is_in("a bodged job")
    assert term.core == "bod"
