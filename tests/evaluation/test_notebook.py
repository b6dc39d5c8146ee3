"""The notebook of the made-up team holds together, and does not mix with our own notes."""

import re
from itertools import pairwise
from pathlib import PurePosixPath

from oracle.evaluation.retrieval import root_of
from oracle.services.search import Index
from oracle.services.tools.threads import entries_of
from tests.tables import each_row

ROOT = root_of("notebook")
NOTES = {path.relative_to(ROOT).as_posix(): path.read_text() for path in ROOT.rglob("*.md")}
THREADS = sorted(name for name in NOTES if name.startswith("threads/"))


def names_of(path):
    heading = re.search(r"^# (?:\d+\. )?(.+)$", NOTES[path], re.M)
    return {PurePosixPath(path).stem, heading[1]}


def test_it_is_a_notebook_of_some_size_that_stays_small_in_the_package():
    assert len(NOTES) - len(THREADS) >= 40
    assert len(THREADS) >= 10
    assert sum(len(text.encode()) for text in NOTES.values()) < 200_000


def test_every_link_between_notes_leads_somewhere():
    known = set().union(*map(names_of, NOTES))
    for path, text in NOTES.items():
        targets = [link.split("|")[0] for link in re.findall(r"\[\[([^]]+)]]", text)]
        assert set(targets) <= known, path


@each_row("path", sorted(path for path in NOTES if path.startswith("adr/")))
def test_a_decision_has_a_status_and_one_that_is_superseded_names_its_heir(path):
    status = re.search(r"^status: (\w+)$", NOTES[path], re.M)[1]
    assert status in ("accepted", "superseded")
    heir = re.search(r"^superseded_by: (.+)$", NOTES[path], re.M)
    assert (heir is not None) == (status == "superseded")
    if heir:
        assert f"supersedes: {PurePosixPath(path).stem}" in NOTES[f"adr/{heir[1]}.md"]


@each_row("path", THREADS)
def test_a_thread_has_several_entries_in_the_order_of_time(path):
    entries = entries_of(PurePosixPath(path).stem, NOTES[path].splitlines())
    assert len(entries) >= 4
    assert all(one.time < other.time for one, other in pairwise(entries))
    assert all(entry.text for entry in entries)


def test_a_search_of_this_project_does_not_find_made_up_notes(tmp_path):
    project = root_of("oracle")
    with Index.open(project, folder=tmp_path) as index:
        for note in NOTES:
            assert index.explain((ROOT / note).relative_to(project)) is not None
