from oracle.services.search.notes import read_note
from tests.tables import each_row

TEXT = """---
title: Where events live
date: 2026-02-03
---
# Storage

See [[Journal|the journal]] and [[Ledger#Limits]].

```sh
# not a heading
```

## Decision

We will keep them in SQLite.
"""


def test_title_headings_links_and_dates_are_read_from_a_note():
    note = read_note(TEXT, "docs/storage.md")
    assert note.title == "Where events live"
    assert [(each.name, each.start, each.end, each.parent) for each in note.headings] == [
        ("Storage", 5, 12, None),
        ("Decision", 13, 16, "Storage"),
    ]
    assert note.links == ["Journal", "Ledger"]
    assert note.decides


def test_underlined_titles_are_headings_too():
    note = read_note("Tide tables\n===========\n\nx\n\nMoon\n----\n", "a.rst")
    assert [(each.name, each.parent) for each in note.headings] == [
        ("Tide tables", None),
        ("Moon", "Tide tables"),
    ]


def test_a_note_without_anything_is_called_like_its_file():
    note = read_note("just text", "notes/Tide tables.md")
    assert note.title == "Tide tables"
    assert not note.headings
    assert not note.decides


@each_row(
    ("path", "text", "decides"),
    [
        ("docs/adr/0001-x.md", "# 1. X\n\n## Status\n\nAccepted\n", 2),
        ("notes/x.md", "# X\n\n## Decision\n\nTea.\n", 2),
        ("notes/weekly.md", "# Weekly\n\nAgreed: tea at four.\n", 1),
        ("notes/howto.md", "# How tea is made\n\nBoil water.\n", 0),
        ("notes/howto.md", "# How tea is made\n\nSee docs/adr/0001-tea.md.\n", 1),
        ("docs/adr/0001-x.md", "# 1. X\n\n## Status\n\nSuperseded by [2](2.md)\n", 0),
        ("docs/adr/0002-x.md", "# 2. X\n\n## Status\n\nAccepted. Supersedes [1](1.md)\n", 2),
        ("docs/decisions/x.md", "---\nstatus: rejected\n---\n# X\n", 0),
    ],
)
def test_the_record_of_a_decision_that_holds_decides_most(path, text, decides):
    assert read_note(text, path).decides == decides
