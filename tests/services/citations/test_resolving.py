"""Citations compared with what was read: the quotation counts first, then the lines."""

import pytest

from oracle.services.attachments.diff_places import places_in_diff
from oracle.services.citations import are_cited, check_answer, lines_cited, places_to_remember
from oracle.services.tools.answer import Answer, as_result
from tests.tables import each_row

SESSION = """\
MAX_IDLE = 1800


def is_expired(session, now):
    idle = now - session.last_seen
    return idle > MAX_IDLE


def renew(session, now):
    session.last_seen = now"""


def code(path="src/auth/session.py", start=10, text=SESSION, digest="d1", **more):
    end = start + text.count("\n")
    place = {"kind": "code", "where": f"{path}:{start}-{end}", "path": path, "text": text}
    return {**place, "start": start, "end": end, "digest": digest, **more}


NOTE = {
    **code("docs/storage.md", 1, "# Storage\n\nWe keep SQLite because it needs\nno server.", "d2"),
    "kind": "vault",
    "title": "Why we store so",
}
LISTING = {
    "kind": "vault",
    "where": "the list",
    "text": "notes/x.md: A listed note",
    "path": ".",
    "listed": [{"path": "notes/x.md", "title": "A listed note"}],
}
FIRST, SECOND = "2026-03-02T10:15:00.000000Z", "2026-04-01T08:00:00.000000Z"
ENTRIES = [
    {
        **code("threads/caching.md", line, text, "d3"),
        "kind": "threads",
        "where": f"thread:caching@{moment}",
        "title": "caching",
        "entry": moment,
    }
    for line, moment, text in [(3, FIRST, "We cache."), (7, SECOND, "We cache no answers at all.")]
]
PAGE = {
    "kind": "web",
    "where": "https://a.org/guide",
    "text": "Use it. See https://b.org/x?y=1.",
    "url": "https://a.org/guide",
    "title": "Guide",
}
EVIDENCE = [code(), NOTE, LISTING, *ENTRIES, PAGE]

TABLE = [
    ("`src/auth/session.py:10`", "resolved", "src/auth/session.py:10"),
    ("`src/auth/session.py:10-19`", "resolved", "src/auth/session.py:10-19"),
    ("`session.py:13`", "resolved", "src/auth/session.py:13"),
    ("`auth/session.py#L13-L15`", "resolved", "src/auth/session.py:13-15"),
    ("`./src/auth/session.py:13`", "resolved", "src/auth/session.py:13"),
    ("`/home/me/p/src/auth/session.py:13`", "resolved", "src/auth/session.py:13"),
    ("`/home/p/p/src/auth/session.py:13`", "resolved", "src/auth/session.py:13"),
    ("`/src/auth/session.py:13`", "resolved", "src/auth/session.py:13"),
    ("`/opt/other/src/auth/session.py:13`", "unknown", ""),
    ("`/home/me/p/auth/session.py:13`", "unknown", ""),
    ("`/session.py:13`", "unknown", ""),
    ("`session.py:13-99999999`", "unread", ""),
    ("`session.py:999999999999`", "unread", ""),
    ("[[ Storage ]]", "resolved", None),
    ("`session.py:9`", "unread", ""),
    ("`session.py:19-20`", "unread", ""),
    ("`session.py:0`", "unread", ""),
    ("`session.py:15-11`", "unread", ""),
    ("`n.py:13`", "unknown", ""),
    ("`ession.py:13`", "unknown", ""),
    ("`other/session.py:13`", "unknown", ""),
    # a quotation that is where the citation says
    ("`return idle > MAX_IDLE` (`session.py:15`)", "resolved", "src/auth/session.py:15"),
    ("`session.py:15` has `return idle  >  MAX_IDLE`.", "resolved", "src/auth/session.py:15"),
    # one that is elsewhere
    ("`return idle > MAX_IDLE` (`session.py:13`)", "moved", "src/auth/session.py:15"),
    ("`return idle > MAX_IDLE` (`session.py:150`)", "moved", "src/auth/session.py:15"),
    ('It says "return idle > MAX_IDLE" in session.py:2.', "moved", "src/auth/session.py:15"),
    ("`session.last_seen = now`. (`session.py:99`)", "moved", "src/auth/session.py:19"),
    ("`renew` is at `session.py:99`", "moved", "src/auth/session.py:18"),
    (
        "`session.py:2`:\n\n```python\ndef renew(session, now):\n    session.last_seen = now\n```",
        "moved",
        "src/auth/session.py:18-19",
    ),
    (
        "In `session.py:2`:\n```\n18  def renew(session, now):\n```",
        "moved",
        "src/auth/session.py:18",
    ),
    (
        "`session.py:2`:\n```\ndef renew(session, now):\n    ...\n```",
        "moved",
        "src/auth/session.py:18",
    ),
    # a mere name, something said elsewhere, or something in two places, moves nothing
    ("`renew` is not used in `session.py:13`", "resolved", "src/auth/session.py:13"),
    ("`MAX_IDLE` is at `session.py:99`", "unread", ""),
    ("`max_idle = 60` would do (`session.py:10`)", "resolved", "src/auth/session.py:10"),
    ("`MAX_IDLE = 1800` is set. It is used in `session.py:15`.", "resolved", None),
    ("[[Why we store so]]", "resolved", "docs/storage.md:1-4"),
    ("[[why  we STORE so]]", "resolved", "docs/storage.md:1-4"),
    ("[[storage]]", "resolved", "docs/storage.md:1-4"),
    ("[[docs/storage.md]]", "resolved", "docs/storage.md:1-4"),
    ("[[A listed note]]", "resolved", "the list"),
    ("[[Another note]]", "unknown", ""),
    ('"because it needs no server" (docs/storage.md:1)', "moved", "docs/storage.md:3-4"),
    (f"thread:caching@{FIRST}", "resolved", f"thread:caching@{FIRST}"),
    ("thread:caching@2026-03-02T10:15:00Z", "resolved", f"thread:caching@{FIRST}"),
    ("thread:caching@2026-03-02", "resolved", f"thread:caching@{FIRST}"),
    ("thread:caching@2026-03-03", "unread", ""),
    ('"cache no answers" (thread:caching@2026-03-03)', "moved", f"thread:caching@{SECOND}"),
    ("thread:storage@2026-03-02", "unknown", ""),
    ("threads/caching.md:3", "resolved", "threads/caching.md:3"),
    ("https://a.org/guide", "resolved", "https://a.org/guide"),
    ("http://www.a.org/guide/#part", "resolved", "https://a.org/guide"),
    ("`https://b.org/x?y=1`", "resolved", ""),
    ("https://a.org/other", "unknown", ""),
]


@each_row(("answer", "status", "where"), TABLE)
def test_a_citation_has_the_status_that_the_record_gives_it(answer, status, where):
    *_, last = check_answer(answer, evidence=EVIDENCE, folders=[("p", "")]).citations
    assert last["status"] == status
    assert where is None or last["where"] == where


@pytest.mark.parametrize("answer", ["`library/redis:7`", "`server.port:80`", "`my file.md:3`"])
def test_what_may_be_something_else_is_a_citation_only_if_it_was_read(answer):
    path, _, line = answer.strip("`").rpartition(":")
    read = code(path, int(line), "x")
    assert [c["status"] for c in check_answer(answer, evidence=[read]).citations] == ["resolved"]
    unread = check_answer(answer, evidence=[]).citations
    assert [c["text"] for c in unread] == (["file.md:3"] if " " in answer else [])


@pytest.mark.parametrize("url", ["http://localhost:8000/guide", "https://127.0.0.1/guide"])
def test_a_page_of_a_local_server_is_a_citation_only_if_it_was_read(url):
    page = {"kind": "web", "where": url, "url": url, "text": "The guide."}
    answer = f"The guide is at `{url}`."
    assert [c["status"] for c in check_answer(answer, evidence=[page]).citations] == ["resolved"]
    mentioned = code("README.md", 1, f"Open {url} in a browser.")
    assert check_answer(answer, evidence=[mentioned]).citations == []


@each_row(
    ("answer", "statuses"),
    [
        ("`session.py:10`: `['docs/x.md:1-3']`", ["resolved"]),
        ('`session.py:10` says "see [[X]] or y.py:3".', ["resolved"]),
        ("> see [[X]] or  y.py:3", []),
        ("`['docs/x.md:1-4']`", ["unknown"]),
        ("`docs/x.md:1-3`", ["unknown"]),
    ],
)
def test_a_citation_inside_a_quotation_is_not_the_answers_own(answer, statuses):
    read = code(text="A = ['docs/x.md:1-3']\nsee [[X]]\nor y.py:3")
    found = check_answer(answer, evidence=[read]).citations
    assert [citation["status"] for citation in found] == statuses


def test_each_of_two_citations_keeps_its_own_quotation():
    answer = "`session.py:99` has `MAX_IDLE = 1800`, `session.py:15` has `return idle > MAX_IDLE`."
    first, second = check_answer(answer, evidence=EVIDENCE).citations
    assert (first["status"], first["where"]) == ("moved", "src/auth/session.py:10")
    assert (second["status"], second["quoted"]) == ("resolved", True)


def test_the_whole_text_is_taken_from_the_messages():
    """The evidence has only the beginning of a text; what the model read had all of it."""
    long = code(text="\n".join(f"value_{number} = {number}" for number in range(400)), start=1)
    result = as_result(Answer(summary="Found.", findings=[long]))
    evidence = [{**long, "text": long["text"][:400], "call": "c1"}]
    messages = [{"role": "tool", "call_id": "c1", "sources": result["sources"]}]
    answer = "`value_300 = 300` (`session.py:7`)"
    (found,) = check_answer(answer, evidence=evidence, messages=messages).citations
    assert (found["status"], found["start"]) == ("moved", 301)
    (found,) = check_answer(answer, evidence=evidence).citations
    assert (found["status"], found["quoted"]) == ("resolved", False)


def test_lines_read_before_a_file_changed_are_stale():
    evidence = [code(digest="old"), code(start=100, digest="new")]
    statuses = [
        check_answer(f"`session.py:{line}`", evidence=evidence).citations[0]["status"]
        for line in (10, 100, 50)
    ]
    assert statuses == ["stale", "resolved", "unread"]


def test_lines_read_again_after_a_change_hold():
    evidence = [code(digest="old"), code(digest="new", text=SESSION + "\n")]
    assert check_answer("`session.py:12`", evidence=evidence).citations[0]["status"] == "resolved"


def test_of_two_files_of_one_name_the_one_that_fits_is_meant():
    evidence = [code("a/x.py", 1, "one"), code("b/x.py", 7, "two")]
    (found,) = check_answer("`x.py:7`", evidence=evidence).citations
    assert found["where"] == "b/x.py:7"


@each_row(
    ("answer", "status"),
    [
        ("`session.py:13`", "resolved"),
        ("`session.py:19-20`", "resolved"),
        ("`session.py:9`", "unread"),
        ("`return idle > MAX_IDLE` (`session.py:13`)", "resolved"),
        ("`n.py:13`", "unknown"),
        ("[[why we store so]] [[storage]]", "resolved"),
        ("thread:caching@2026-03-02", "resolved"),
        ("threads/caching.md:3", "resolved"),
        ("https://a.org/guide", "resolved"),
    ],
)
def test_what_earlier_exchanges_read_counts(answer, status):
    places = places_to_remember([*EVIDENCE, code(start=20)])
    for found in check_answer(answer, earlier=places).citations:
        assert (found["status"], found["earlier"]) == (status, status == "resolved")


def test_what_was_read_earlier_and_changed_since_is_stale():
    places = places_to_remember([code(digest="old")])
    now = [code(start=100, digest="new")]
    (found,) = check_answer("`session.py:10`", earlier=places, evidence=now).citations
    assert found["status"] == "stale"


def test_what_is_remembered_is_small_and_has_no_text():
    places = places_to_remember([code(start=1 + 10 * number) for number in range(500)])
    assert places == [
        {
            "kind": "code",
            "path": "src/auth/session.py",
            "start": 1,
            "end": 5000,
            "digest": "d1",
            "where": "src/auth/session.py:1-5000",
        }
    ]
    assert len(places_to_remember([code(f"{number}.py") for number in range(500)])) == 100


def test_what_the_user_attached_was_given():
    answer = "It fails in `app.py:3`, called from `main.py:9`."
    found = check_answer(answer, attachment="app.py:3: error").citations
    assert [citation["status"] for citation in found] == ["resolved", "unknown"]


def test_the_places_that_the_answer_rests_on_are_known():
    answer = "`session.py:12`, [[storage]], https://a.org/guide and `docs/other.md:3`"
    found = check_answer(answer, evidence=EVIDENCE).citations
    assert are_cited(EVIDENCE, found) == [True, True, False, False, False, True]


@pytest.mark.parametrize(
    "place", [{}, {"where": ""}, {"path": "a.py", "start": None}, {"start": 3}]
)
def test_a_place_that_says_little_spoils_nothing(place):
    assert check_answer("`a.py:3`", evidence=[place]).citations[0]["status"] == "unknown"


DELETION = """\
--- a/del.txt
+++ /dev/null
@@ -1,2 +0,0 @@
-first line of it
-second line of it
--- a/src/a.py
+++ b/src/a.py
@@ -10,2 +10,3 @@
 kept
-limit = 3
+limit = 4
+more = 5
--- a/.env
+++ b/.env
@@ -1 +1 @@
-[left out: a line of a file with secrets]
+[left out: a line of a file with secrets]
"""


@each_row(
    ("answer", "status"),
    [
        ("`del.txt:1` is gone.", "resolved"),
        ("`del.txt:1-2` is gone.", "resolved"),
        ("It was `limit = 3` at `src/a.py:11`.", "resolved"),
        ("It is `limit = 4` at `src/a.py:11`.", "resolved"),
        ("`src/a.py:12` is new.", "resolved"),
        ("`del.txt:3` is gone.", "unread"),
        ("`.env:1` was changed.", "unknown"),
    ],
)
def test_both_sides_of_an_attached_diff_can_be_cited(answer, status):
    [found] = check_answer(answer, evidence=places_in_diff(DELETION)).citations
    assert found["status"] == status


@each_row(
    ("answer", "lines"),
    [
        ("See `src/auth/session.py:10`.", ["MAX_IDLE = 1800"]),
        ("See `src/auth/session.py:13-14`.", SESSION.splitlines()[3:5]),
        ("See `src/auth/session.py:3`.", []),
        ("See `src/auth/token.py:10`.", []),
        ("It is so.", []),
    ],
)
def test_the_lines_that_an_answer_cites_are_those_of_the_evidence(answer, lines):
    assert lines_cited(answer, [code()]) == lines


@each_row(
    ("answer", "status"),
    [
        ("/tmp/shop/a.py:1", "resolved"),
        ("/tmp/libs/b.py:1", "resolved"),
        ("/tmp/other/b.py:1", "unknown"),
        ("/tmp/lib/b.py:1", "unknown"),
        ("/opt/x/c.py:1", "resolved"),
        ("/opt/y/c.py:1", "unknown"),
    ],
)
def test_an_absolute_path_must_lead_through_a_folder_of_the_project(answer, status):
    read = [code("a.py", 1, "x"), code("lib/b.py", 1, "x"), code("/opt/x/c.py", 1, "x")]
    folders = [("shop", ""), ("libs", "lib/")]
    (found,) = check_answer(answer, evidence=read, folders=folders).citations
    assert found["status"] == status


@each_row(
    ("answer", "statuses"),
    [
        ("日本.py:1", ["resolved"]),
        ("docs/日本.py:1", ["resolved"]),
        ("これは日本.py:1です", ["resolved"]),
        ("日本.py:9", ["unread"]),
        ("中国.py:1", ["unknown"]),
        ("於src/app.py:1。", ["resolved"]),
        ("見 文件my.py:1", ["resolved"]),
        ("docs/日本/a.py:1", ["resolved"]),
    ],
)
def test_names_in_scripts_without_blanks_are_found_at_the_end_of_the_words(answer, statuses):
    names = ("docs/日本.py", "src/app.py", "文件my.py", "docs/日本/a.py")
    read = [code(name, 1, "x") for name in names]
    found = check_answer(answer, evidence=read).citations
    assert [one["status"] for one in found] == statuses
