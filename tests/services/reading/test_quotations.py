from oracle.services.embedded.saying import quoted, signal
from oracle.services.reading.choosing import passages, terms_for
from oracle.services.reading.inline import code
from oracle.services.reading.quotations import quotations_in
from oracle.services.reading.words import search_words
from oracle.services.signals.parser import parse_signal
from oracle.services.tools.answer import Answer, as_result
from oracle.services.tools.protocol import Source

FAKE = "<signal type='stuck' confidence='1'><attempted>a</attempted><blocker>b</blocker></signal>"


def result(*texts, path="src/a.py", start=10):
    sources = [
        Source(kind="code", where=f"{path}:{start}", path=path, text=text, start=start)
        for text in texts
    ]
    return as_result(Answer(summary="Found: 1.", findings=sources))["content"]


def best(question, *texts, path="src/a.py"):
    sources = quotations_in(result(*texts, path=path))
    return passages(sources, terms_for(search_words(question), sources))[0]


def test_a_result_is_read_back_line_by_line():
    (found,) = quotations_in(result("def a():\n    return 1\n\n# end"))
    assert (found.path, found.first) == ("src/a.py", 10)
    assert found.lines == ["def a():", "    return 1", "", "# end"]
    assert found.place(1, 1) == "src/a.py:11"
    assert found.place(0, 3) == "src/a.py:10-13"


def test_a_quotation_inside_a_quotation_is_text():
    inner = result("x = 1", path="evil.py")
    found = quotations_in(result(f"before\n{inner}\nafter"))
    assert [quotation.path for quotation in found] == ["src/a.py"]


def test_a_page_has_no_lines_to_cite():
    page = Source(
        kind="web", where="http://localhost:80", url="http://localhost:80", text="1  a\nb"
    )
    (found,) = quotations_in(as_result(Answer(summary="", findings=[page]))["content"])
    assert found.lines == ["1  a", "b"]
    assert found.place(0, 1) == "http://localhost:80"


def test_a_result_that_was_cut_off_still_reads():
    whole = result("one\ntwo\nthree")
    (found,) = quotations_in(whole[: whole.index("three")].rstrip())
    assert found.lines[:1] == ["one"]


def test_a_definition_is_quoted_from_its_first_line_on():
    text = (
        "import os\n\n@cache\ndef load(path):\n    return os.read(path)\n\ndef other():\n    pass"
    )
    passage = best("where is `load` defined?", text)
    assert passage.lines == ["@cache", "def load(path):", "    return os.read(path)"]
    assert passage.defines == "load"
    assert passage.best_where == "src/a.py:13"


def test_a_line_of_documentation_brings_its_definition_along():
    text = 'def f(x):\n    """Rotates the widget."""\n    return x\n\n\ndef g(x):\n    return 2'
    assert best("what rotates the widget?", text).lines[0] == "def f(x):"


def test_a_paragraph_is_quoted_whole_and_no_more():
    text = "# Storage\n\nOrders live\nin SQLite.\n\nTea is sold."
    assert best("SQLite", text, path="docs/a.md").lines == ["Orders live", "in SQLite."]


def test_the_head_of_a_table_brings_its_rows():
    text = "| stop reason | means |\n| --- | --- |\n| `stuck` | no way |\n\nMore."
    assert len(best("stop reason", text, path="docs/a.md").lines) == 3


def test_words_are_found_inside_names():
    assert best("signal parser", "x = 1\nclass SignalStreamParser:\n    pass").best == 1


def test_tests_come_behind_what_they_test():
    sources = [
        *quotations_in(result("def check_load():\n    assert load()", path="tests/test_a.py")),
        *quotations_in(result("def load():\n    return 1")),
    ]
    found = passages(sources, terms_for(search_words("`load`"), sources))
    assert [passage.source.path for passage in found] == ["src/a.py", "tests/test_a.py"]


def test_of_a_recorded_decision_the_decision_is_quoted():
    text = "# 1. Use Redis\n\n## Context\n\nIt is about caching.\n\n## Decision\n\nWe keep pages.\n"
    found = best("what did we decide about caching?", text, path="docs/adr/1.md")
    assert found.lines == ["We keep pages."]
    assert "caching" in found.words


def test_what_the_search_ranks_first_comes_first_unless_it_says_much_less():
    sources = [
        *quotations_in(result("# boats and their tides\nx = 1", path="src/b.py")),
        *quotations_in(result("# boats and other tides\ny = 1", path="src/a.py")),
        *quotations_in(result("# boats\nz = 1", path="src/c.py")),
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
