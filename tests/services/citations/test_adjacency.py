"""Only a quotation right next to a citation shows where its lines are."""

from oracle.services.citations import check_answer
from tests.tables import each_row

SESSION = "\n".join(
    [
        *(f"# filler {number}" for number in range(1, 10)),
        "MAX_IDLE = 1800",
        *("", ""),
        "def is_expired(session, now):",
        '    """Whether a session is too old."""',
        "    return now - session.seen > MAX_IDLE",
        *("", ""),
        "def renew(session, now):",
        "    session.seen = now",
        "    return session",
        *("", "x1 = 1"),
    ]
)
READ = {
    "kind": "code",
    "where": "src/session.py:1-22",
    "path": "src/session.py",
    "start": 1,
    "end": 22,
    "text": SESSION,
}

NOT_ATTACHED = [
    "The check in `src/session.py:15` uses the limit `MAX_IDLE = 1800` defined above.",
    "Before `session.seen = now` runs, src/session.py:15 has to say no.",
    "`src/session.py:10` defines the limit, and `def renew(session, now):` uses nothing of it.",
    "To fix, in `src/session.py:13` replace the body by `session.seen = now` as in renew.",
    "With `MAX_IDLE = 1800`, src/session.py:15 is true after half an hour.",
    "src/session.py:13: `session.seen = now` would be wrong here.",
    "src/session.py:13 (`session.seen = now` comes later)",
    "The limit is in `src/session.py:10`; `def is_expired(session, now):` uses it.",
    "It is checked at src/session.py:13. `session.seen = now` comes later.",
    "It is checked at `src/session.py:13`. `session.seen = now` comes later.",
    "In `src/session.py:13`, write this instead:\n```\nsession.seen = now\n```",
    'The docstring "Whether a session is too old." belongs to `src/session.py:13`.',
    "| src/session.py:13 | before `session.seen = now` |",
]
ATTACHED = {
    "`session.seen = now` is at `src/session.py:13`.": 19,
    "`session.seen = now` (src/session.py:13)": 19,
    "`session.seen = now` (see [here](src/session.py:13))": 19,
    "`session.seen = now`, see src/session.py:13": 19,
    "**`session.seen = now`** — src/session.py:13": 19,
    "`session.seen = now` stands at src/session.py:13": 19,
    "`session.seen = now` lives in src/session.py:13": 19,
    "`session.seen = now` is set in src/session.py:13": 19,
    "src/session.py:13: `session.seen = now`": 19,
    "`src/session.py:13` says `session.seen = now` after that.": 19,
    'src/session.py:10 reads "Whether a session is too old."': 14,
    "src/session.py:13 (`session.seen = now`) sets it.": 19,
    "src/session.py:13 – `session.seen = now`.": 19,
    "In `src/session.py:10`:\n\n```python\n    session.seen = now\n```": 19,
    "As `src/session.py:10` says:\n```\nsession.seen = now\n```": 19,
}


@each_row("answer", NOT_ATTACHED)
def test_a_quotation_elsewhere_in_the_sentence_moves_no_lines_that_were_read(answer):
    assert check_answer(answer, evidence=[READ]).answer == answer


@each_row("answer", ATTACHED)
def test_a_quotation_right_at_the_citation_moves_it(answer):
    (found,) = check_answer(answer, evidence=[READ]).citations
    assert (found["status"], found["start"]) == ("moved", ATTACHED[answer])


def test_the_quotation_of_the_next_sentence_is_not_used():
    first, second = "The constant is at `src/session.py:200`.", "is at src/session.py:3."
    answer = f"{first} `def renew(session, now):` {second}"
    found = check_answer(answer, evidence=[READ]).citations
    assert [(one["status"], one["start"]) for one in found] == [("unread", 0), ("moved", 18)]
