"""What is a citation in an answer, and what only looks like one."""

import pytest

from oracle.services.citations import find_citations
from tests.default_run import thinned
from tests.tables import each_row
from tests.timing import takes_less

FORMS = {
    "file.py:12": ("file", "file.py", 12, 12),
    "src/a/b.py:10-20": ("file", "src/a/b.py", 10, 20),
    "a.py:L12": ("file", "a.py", 12, 12),
    "a.py:L12-L14": ("file", "a.py", 12, 14),
    "a.py#L10": ("file", "a.py", 10, 10),
    "a.py#L10-L20": ("file", "a.py", 10, 20),
    "a.py:10–20": ("file", "a.py", 10, 20),
    "a.py#10": ("file", "a.py", 10, 10),
    "a.py:10,20-30": ("file", "a.py", 10, 10),
    "a.py (line 10)": ("file", "a.py", 10, 10),
    "a.py (lines 10-20)": ("file", "a.py", 10, 20),
    "a.py, line 10": ("file", "a.py", 10, 10),
    "src/a.py, lines 10–20": ("file", "src/a.py", 10, 20),
    "src/a.py line 10": ("file", "src/a.py", 10, 10),
    "a.py at line 10": ("file", "a.py", 10, 10),
    "a.py:12:5": ("file", "a.py", 12, 12),
    "a.py::12": ("file", "a.py", 12, 12),
    "a.py:12ff": ("file", "a.py", 12, 12),
    "a.py:12-99999999": ("file", "a.py", 12, 99999999),
    "a.py:" + "9" * 5000: ("file", "a.py", 10**9, 10**9),
    "a.py, around line 10": ("file", "a.py", 10, 10),
    "a.py, starting at line 10": ("file", "a.py", 10, 10),
    "a.py, lines 10 to 20": ("file", "a.py", 10, 20),
    "a.py: line 10": ("file", "a.py", 10, 10),
    "a.py:lines 10-20": ("file", "a.py", 10, 20),
    "a.py — line 10": ("file", "a.py", 10, 10),
    "a.py (L10-L20)": ("file", "a.py", 10, 20),
    "a.py [line 10]": ("file", "a.py", 10, 10),
    "a.py (line 10ff)": ("file", "a.py", 10, 10),
    'a.py", line 10': ("file", "a.py", 10, 10),
    "poetry.lock:3": ("file", "poetry.lock", 3, 3),
    "/etc/passwd:3": ("file", "/etc/passwd", 3, 3),
    "./src/a.py:3": ("file", "./src/a.py", 3, 3),
    "/srv/app/a.py:3": ("file", "/srv/app/a.py", 3, 3),
    "docs/übersicht.md:3": ("file", "docs/übersicht.md", 3, 3),
    "@scope/pkg/index.d.ts:3": ("file", "@scope/pkg/index.d.ts", 3, 3),
    "Makefile:7": ("file", "Makefile", 7, 7),
    "docker/Dockerfile:7": ("file", "docker/Dockerfile", 7, 7),
    "conf/.env:2": ("file", "conf/.env", 2, 2),
    "a.py:0": ("file", "a.py", 0, 0),
    "[[Title of the note]]": ("note", "Title of the note", 0, 0),
    "[[Storage#Why|why]]": ("note", "Storage", 0, 0),
    "thread:caching@2026-03-02T10:15:00Z": ("thread", "caching", 0, 0),
    "thread:api-v2@2026-03-02T10:15:00.000123Z": ("thread", "api-v2", 0, 0),
    "https://docs.python.org/3/library/re.html": (
        "url",
        "https://docs.python.org/3/library/re.html",
        0,
        0,
    ),
    "https://en.wikipedia.org/wiki/Tree_(graph)": (
        "url",
        "https://en.wikipedia.org/wiki/Tree_(graph)",
        0,
        0,
    ),
}
AROUND = (
    "{}",
    "`{}`",
    "It is there ({}).",
    "See {}, and more",
    "**{}**!",
    "- {}",
    "> `{}`",
    "於{}。",
)

NO_FORMS = (
    r"C:\src\a.py:12",
    r"src\auth\a.py:12",
    "C:/src/a.py:12",
    "http://x:80/",
    "http://localhost:8080/a.py:3",
    "https://files.example.org:8443/a",
    "https://127.0.0.1/a",
    "ftp://files.gnu.org/a.c:3",
    "file:///srv/a.py:3",
    "http://[::1]:8000/a",
    "12:30",
    "at 12:30:45",
    "2026-03-02T10:15:00Z",
    "v1.2.3:4",
    "/users/list:3",
    "1line 3 in a.py",
    "line 3 in time",
    "lines 3 of 12",
    "`CHANGES.md` (2019-2024)",
    "`a.py` (12)",
    "a.py (10-20)",
    "[[ -f a.txt ]]",
    "[[ $x ]]",
    "1.2.3:4",
    "python:3.11",
    "redis:7",
    "3:1",
    "16:9",
    "::1",
    "fe80::1:2",
    "[2001:db8::1]:443",
    "127.0.0.1:8000",
    "localhost:8080",
    "example.com:443",
    "db.internal:5432",
    "me@example.com:25",
    "🙂:12",
    "a.py",
    "a.py:",
    "a.py:x",
    "a.py:12px",
    "a.py:1.5",
    "note:12",
    "`text[node.c:3]`",
    "`server.port:8080`",
    "library/redis:7",
    "`[[ -f a.txt ]]`",
    "`[[tool.ruff]]`",
    "`[[package]]`",
    "`[[nodiscard]]`",
    "`[[a == b]]`",
    "`[[x -eq 3]]`",
    "`[[$HOME]]`",
    "`if [[Made up]]`",
    "a.py, line",
    "`console.log` (line 12)",
    "`response.json`, line 5",
    "`self.d` line 3",
    "`np.r`:3",
    "a.py (line by line)",
    "a.py, 10 lines",
    "a.py (10 lines)",
    "a.py, lines 10px",
    "vercel/next.js#1234",
    "docs/guide.md#3",
    "a.py#3-setup",
    "owner/project#12",
    "**12**:30",
    "`localhost`:8080",
    "**Note**:12",
    "[[1, 2], [3, 4]]",
    "[[ ]]",
    "a" * 400 + ".py:3",
)


@each_row("around", AROUND)
@each_row("form", FORMS)
def test_a_citation_is_found_wherever_it_stands(form, around):
    text = around.format(form)
    (found,) = find_citations(text)
    assert (found.kind, found.name, found.first, found.last) == FORMS[form]
    assert text[found.start : found.end] == found.text == form


@each_row("text", NO_FORMS)
def test_what_only_looks_like_a_citation_is_none(text):
    assert find_citations(text) == []


@each_row(
    ("text", "found"),
    [
        ("In `src/a.py`:10.", "`src/a.py`:10"),
        ("In **src/a.py**:10-12, so", "**src/a.py**:10-12"),
        ("In **`src/a.py`**:10", "**`src/a.py`**:10"),
        ("In `src/a.py`, lines 10–20, so", "`src/a.py`, lines 10–20"),
        ("In `src/a.py` (line 10) it is", "`src/a.py` (line 10)"),
        ("In `src/a.py` line 10 it is", "`src/a.py` line 10"),
        ("In `src/a.py` (10-12) it is", "`src/a.py` (10-12)"),
        ('File "src/a.py", line 10, in x', 'src/a.py", line 10'),
    ],
)
def test_lines_may_stand_outside_the_code(text, found):
    (citation,) = find_citations(text)
    assert citation.text == found
    assert text[: citation.mark_at].endswith(found)


@each_row(
    ("text", "ranges"),
    [
        ("See a.py:10, 9000.", [(10, 10), (9000, 9000)]),
        ("See `a.py:10,9000-9100`.", [(10, 10), (9000, 9100)]),
        ("see a.py:10-12, 500-600", [(10, 12), (500, 600)]),
        ("(a.py:10, 13, 20)", [(10, 10), (13, 13), (20, 20)]),
        ("`a.py` (lines 10 and 900)", [(10, 10), (900, 900)]),
        ("`a.py`, lines 10-12, 900", [(10, 12), (900, 900)]),
        ("`a.py`, lines 10 and 3 others", [(10, 10)]),
        ("`a.py`:10,20", [(10, 10), (20, 20)]),
        ("a.py:10, 30 times", [(10, 10)]),
        ("a.py:10, 2 `calls` of it", [(10, 10)]),
        ("a.py:10, 2026 March", [(10, 10)]),
        ("a.py:10, 3.5 seconds", [(10, 10)]),
        ("a.py:10, 5%", [(10, 10)]),
        ("a.py:10, b.py:12", [(10, 10)]),
    ],
)
def test_further_lines_belong_to_the_citation(text, ranges):
    assert list(find_citations(text)[0].ranges) == ranges


@each_row(
    ("text", "name", "lines", "after"),
    [
        ("See line 10 in src/a.py.", "src/a.py", (10, 10), "."),
        ("Lines 10-12 of `src/a.py` say", "src/a.py", (10, 12), " say"),
        ("lines 10 to 12 of the file **a.py**, so", "a.py", (10, 12), "**, so"),
        ("_src/a.py:3_ says", "src/a.py", (3, 3), "_ says"),
        ("__src/a.py:3__ says", "src/a.py", (3, 3), "__ says"),
        ("~~a.py:3~~", "a.py", (3, 3), "~~"),
        ("__init__.py:3, so", "__init__.py", (3, 3), ", so"),
        ("a.py:3-", "a.py", (3, 3), "-"),
        ("日本.py:12 says", "日本.py", (12, 12), " says"),
        ("`src/日本.py:12` says", "src/日本.py", (12, 12), " says"),
        ("docs/日本/a.py:12 says", "docs/日本/a.py", (12, 12), " says"),
        ("my-文件.py:12", "my-文件.py", (12, 12), ""),
        ("See [[ Sessions ]], too", "Sessions", (0, 0), ", too"),
    ],
)
def test_a_name_may_be_in_emphasis_after_its_lines_or_in_another_script(text, name, lines, after):
    (found,) = find_citations(text)
    assert (found.name, (found.first, found.last)) == (name, lines)
    assert text[found.mark_at :] == after


def test_line_numbers_after_an_and_are_lines_unless_a_word_follows():
    assert list(find_citations("a.py:110 and 900")[0].ranges) == [(110, 110), (900, 900)]
    assert list(find_citations("a.py:110 and 900.")[0].ranges) == [(110, 110), (900, 900)]
    assert list(find_citations("a.py:110 and 900 others")[0].ranges) == [(110, 110)]


def test_names_of_another_script_do_not_take_from_the_citation_before():
    assert [found.name for found in find_citations("a.py:1日本.py:2")] == ["a.py", "日本.py"]


def test_several_in_one_sentence_are_all_found():
    text = "From `a.py:1` through b.py:2-3 and [[Storage]] to https://a.org/b, a.py#L4."
    assert [found.text for found in find_citations(text)] == [
        *("a.py:1", "b.py:2-3", "[[Storage]]", "https://a.org/b", "a.py#L4")
    ]


@each_row(
    ("text", "found"),
    [
        ("```\na.py:1\n```\nb.py:2", ["b.py:2"]),
        ("~~~py\na.py:1\n~~~\n", []),
        ("```\na.py:1\n", []),
        ("- x\n\n  ```\n  a.py:1\n  ```\n  b.py:2", ["b.py:2"]),
        ("> ```\n> a.py:1\n\nb.py:2", ["b.py:2"]),
        ("``a ` b.py:2``", ["b.py:2"]),
        ("\u2028a.py:1\x0bb.py:2\r\nc.py:3\r\n", ["a.py:1", "b.py:2", "c.py:3"]),
    ],
)
def test_a_fence_holds_no_citations(text, found):
    assert [citation.text for citation in find_citations(text)] == found


@each_row(
    ("text", "before"),
    [
        ("`a.py:1`, then", ", then"),
        ("[a.py:1](src/x.md), then", ", then"),
        ("[here](https://a.org/b), then", ", then"),
        ("<https://a.org/b>, then", ", then"),
        ("(a.py:1), then", "), then"),
    ],
)
def test_a_mark_would_stand_behind_code_and_links(text, before):
    (found,) = find_citations(text)
    assert text[found.mark_at :] == before


HOSTILE = {
    "one run": "a" * 200_000,
    "dots": "a." * 100_000,
    "slashes": "a/" * 100_000 + ":1",
    "colons": "a.py:" * 40_000,
    "digits": "1" * 200_000,
    "lines": "a.py:1-" * 30_000,
    "schemes": "a+" * 100_000 + "://",
    "urls": "https://a.org/(" * 15_000,
    "closing": "https://a.org/" + ")" * 200_000,
    "threads": "thread:" * 30_000,
    "entries": "thread:a@2026-03-02" * 12_000,
    "brackets": "[" * 200_000,
    "notes": "[[a" * 70_000,
    "links": "[](a" * 50_000,
    "titles": '[](a "' * 40_000,
    "ticks": "`a.py:1" * 30_000,
    "outside": "`a.py`:1,2" * 20_000,
    "more": "a.py:1" + ",2" * 90_000,
    "words": "a.py (line " * 20_000,
    "before": "line 1 of " * 20_000,
    "ranges before": "lines 1-" * 25_000,
    "ands": "a.py:1" + " and 2" * 40_000,
    "emphasis": "_" * 200_000 + "a.py:1" + "_" * 200_000,
    "italics": "_a.py:1_" * 25_000,
    "script": "日" * 200_000 + ".py:1",
    "scripts": "日.py:1" * 30_000,
    "tilde": "a.py:1~" * 30_000,
    "targets": "[](a b" * 30_000,
    "balanced": "[](" + "[](a b)" * 25_000,
    "fences": "```\n" * 50_000,
    "quotes": '"abc" ' * 30_000 + "a.py:1",
    "sentences": "a. " * 60_000 + "a.py:1",
    "citations": "`a.py:1` " * 20_000,
}


@pytest.mark.extra
@pytest.mark.parametrize("name", thinned(HOSTILE, 6))
def test_the_time_is_linear_whatever_the_text(name):
    text = HOSTILE[name]
    assert takes_less(lambda: find_citations(text), 5)
