"""What an index promises: it finds, it follows changes, and it survives what happens to it."""

import os
import re
import shutil
import signal
import sys
from pathlib import Path

import pytest

from oracle.errors import InputError
from oracle.models.query_classification import OWN_NAME
from oracle.services.search import Index
from tests.default_run import thinned
from tests.processes import PIPE, Process, run

SHELF = '''"""Books on a shelf."""


class BookShelf:
    def put_book(self, book):
        """Place one more volume, unless the shelf is full."""
        self.books.append(book)
'''


def word(kind, number):
    """A word that encodes a number; digits would be split off."""
    return kind + "".join("abcdefghij"[int(digit)] for digit in f"{number:02}") + "x"


def paths(hits):
    return [hit.path for hit in hits]


def test_a_question_in_plain_words_finds_the_lines_that_answer_it(project):
    project.write("src/shelf.py", SHELF)
    project.write("src/door.py", "def open_door():\n    return True\n")
    (hit,) = project.indexed().search("where is a volume placed when the shelf is full?")
    assert (hit.path, hit.start, hit.end) == ("src/shelf.py", 1, 7)
    assert hit.text == SHELF
    assert hit.symbol == "BookShelf"
    assert hit.score == 1.0


def test_the_first_note_of_a_project_is_found_as_soon_as_it_is_there(project):
    project.write("src/shelf.py", SHELF)
    index = project.indexed()
    assert index.search("shelf", "vault") == index.search("shelf", "threads") == []
    project.write("vault/shelves.md", "# Shelves\n\nA shelf holds books.\n")
    index.refresh()
    assert paths(index.search("shelf", "vault")) == ["vault/shelves.md"]


@pytest.mark.parametrize(
    "question",
    [
        "put_book",
        "putBook",
        "put book",
        "books being put",
        "src/shelf.py",
        "BookShelf.put_book",
        "BOOKSHELF",
    ],
)
def test_identifiers_are_found_whole_and_in_parts(project, question):
    project.write("src/shelf.py", SHELF)
    project.write("src/door.py", "def open_door():\n    return True\n")
    assert paths(project.indexed().search(question))[0] == "src/shelf.py"


def test_who_calls_what_matched_is_found_after_it(project):
    project.write("src/shelf.py", SHELF)
    project.write("src/porter.py", "def carry(shelf, parcel):\n    shelf.put_book(parcel)\n")
    project.write("src/door.py", "def open_door():\n    return True\n")
    found = project.indexed().search("where is one more volume placed?")
    assert paths(found) == ["src/shelf.py", "src/porter.py"]
    assert found[1].score < found[0].score


def test_words_of_the_same_meaning_find_each_other(project):
    project.write("gate.py", "def check_credentials(user): ...\n")
    project.write("other.py", "def paint(user): ...\n")
    assert paths(project.indexed().search("login"))[0] == "gate.py"


def test_source_comes_before_tests_and_documents_unless_they_are_asked_for(project):
    text = "def measure_tide(): return 'tide'\n"
    for path in ("tests/test_tide.py", "docs/tide.md", "src/tide.py"):
        project.write(path, text)
    index = project.indexed()
    assert paths(index.search("measure tide"))[0] == "src/tide.py"
    assert paths(index.search("which test measures the tide"))[0] == "tests/test_tide.py"
    assert "docs/tide.md" in paths(index.search("measure tide"))


def test_each_file_gives_one_hit_unless_more_are_wanted(project):
    body = "".join(f"def tide_{number}():\n" + "    tide = 1\n" * 60 for number in range(4))
    project.write("tide.py", body)
    index = project.indexed()
    assert len(index.search("tide")) == 1
    assert len(index.search("tide", per_file=3)) == 3


def test_nothing_asked_or_nothing_matching_finds_nothing(project):
    project.write("a.py", "x = 1\n")
    index = project.indexed()
    for question in ("", "???", "zzyzx", "\0", "a" * 100_000, "\ud800"):
        assert index.search(question) == [] or question == "a" * 100_000


def test_an_unknown_kind_is_refused(project):
    with pytest.raises(InputError, match="'web' is not a kind"):
        project.index().search("x", kind="web")


def test_a_refresh_takes_in_what_changed_by_content(project):
    project.write("a.py", "alpha = 1\n")
    project.write("b.py", "beta = 1\n")
    index = project.indexed()
    project.write("a.py", "gamma = 1\n")
    os.utime(project.root / "b.py", (1, 1))
    (project.root / "b.py").touch()
    project.write("c.py", "delta = 1\n")
    report = index.refresh()
    assert (report.added, report.changed, report.removed, report.unchanged) == (1, 1, 0, 1)
    assert paths(index.search("gamma")) == ["a.py"]
    assert index.search("alpha") == []


def test_a_change_that_keeps_size_and_time_is_seen_when_it_is_recent(project):
    file = project.write("a.py", "alpha = 1\n")
    index = project.indexed()
    state = file.stat()
    project.write("a.py", "gamma = 1\n")
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    index.refresh()
    assert paths(index.search("gamma")) == ["a.py"]


def test_a_change_whose_time_was_set_back_is_seen(project, monkeypatch):
    monkeypatch.setattr("oracle.services.search.intake._JUST_NOW_NS", 0)
    file = project.write("a.py", "alpha = 1\n")
    os.utime(file, (1, 1))
    index = project.indexed()
    project.write("a.py", "gamma = 1\n")
    os.utime(file, (1, 1))
    assert index.refresh().changed == 1
    assert paths(index.search("gamma")) == ["a.py"]
    assert index.refresh().changed == 0


def test_a_file_that_is_gone_or_ignored_since_is_not_found_any_more(project):
    project.write("a.py", "alpha = 1\n")
    project.write("b.py", "alpha = 2\n")
    index = project.indexed()
    (project.root / "a.py").unlink()
    assert paths(index.search("alpha")) == ["b.py"]
    project.write(".gitignore", "b.py\n")
    assert index.refresh().removed == 2
    assert index.paths() == [".gitignore"]


def test_an_update_takes_in_the_named_files_only(project):
    project.write("a.py", "alpha = 1\n")
    index = project.indexed()
    project.write("a.py", "beta = 1\n")
    project.write("b.py", "beta = 1\n")
    index.update(["a.py"])
    assert paths(index.search("beta")) == ["a.py"]
    (project.root / "a.py").unlink()
    index.update([project.root / "a.py", project.root / "b.py"])
    assert paths(index.search("beta")) == ["b.py"]


@pytest.mark.extra
def test_updates_leave_no_old_passages_in_the_text_index(project):
    for number in range(3):
        project.write(f"f{number}.py", "x = 1\n")
    index = project.indexed()
    before = index.passage_count
    for number in range(60):
        project.write(f"f{number % 3}.py", f"x = {number + 2}\n")
        index.update([f"f{number % 3}.py"])
    assert index.passage_count == before
    (project.root / "f0.py").unlink()
    index.update(["f0.py"])
    assert index.passage_count < before


def test_an_update_outside_of_the_project_is_refused(project):
    with pytest.raises(InputError, match="lies outside"):
        project.index().update(["../other.py"])


def test_an_update_of_a_folder_that_is_gone_forgets_what_was_in_it(project):
    project.write("pkg/inner/a.py", "alpha = 1\n")
    index = project.indexed()
    shutil.rmtree(project.root / "pkg")
    index.update(["pkg"])
    assert index.paths() == []


def test_progress_is_reported_file_by_file(project):
    for number in range(5):
        project.write(f"f{number}.py", f"x = {number}\n")
    steps = []
    project.index().refresh(steps.append)
    assert [step.done for step in steps] == [1, 2, 3, 4, 5]
    assert {step.total for step in steps} == {5}


def test_two_opened_indexes_see_each_others_changes(project):
    project.write("a.py", "alpha = 1\n")
    first, second = project.indexed(), project.index()
    assert paths(second.search("alpha")) == ["a.py"]
    project.write("b.py", "beta = 1\n")
    second.refresh()
    assert paths(first.search("beta")) == ["b.py"]


REFRESH = """
import sys
from oracle.services.search import Index
with Index.open(sys.argv[1]) as index:
    print(index.refresh().touched)
"""


def test_two_processes_at_once_do_the_work_once(project):
    for number in range(120):
        project.write(f"f{number}.py", f"def thing_{number}(): ...\n")
    running = [
        Process([sys.executable, "-c", REFRESH, project.root], stdout=PIPE) for _ in range(3)
    ]
    touched = [int(process.communicate()[0]) for process in running]
    assert sorted(touched) == [0, 0, 120]
    assert len(project.index().paths()) == 120


KILLED = """
import os, signal, sys
from oracle.services.search import Index, catalogue, passages, refreshing
refreshing._FILES_A_BATCH = 10
place, number = sys.argv[2], int(sys.argv[3])
owner = passages.PassageWriter if place == "commit" else catalogue.Catalogue
original, calls = getattr(owner, place), 0
def dies(self, *arguments, **named):
    global calls
    calls += 1
    if calls == number and sys.argv[4] == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    original(self, *arguments, **named)
    if calls == number:
        os.kill(os.getpid(), signal.SIGKILL)
setattr(owner, place, dies)
Index.open(sys.argv[1]).refresh()
"""


@pytest.mark.parametrize("place", ["announce", "commit", "forget", "add", "settle"])
@pytest.mark.parametrize("moment", thinned(["before", "after"], 2))
def test_killed_half_way_it_is_consistent_and_the_next_refresh_finishes(project, place, moment):
    for number in range(30):
        project.write(f"f{number}.py", f"def thing_{number}(): return '{word('old', number)}'\n")
    project.indexed().close()
    for number in range(30):
        project.write(f"f{number}.py", f"def thing_{number}(): return '{word('new', number)}'\n")
    died = run([sys.executable, "-c", KILLED, project.root, place, "2", moment])
    assert died.returncode == -signal.SIGKILL
    index = project.index()
    assert len(index.search("thing", k=100)) <= 30
    assert index.refresh().rebuilt is None
    for number in range(30):
        assert paths(index.search(word("new", number))) == [f"f{number}.py"]
        assert index.search(word("old", number)) == []
    assert len(index.definitions("thing_7")) == 1


def files_of(root):
    return [file for file in sorted(Path(root, ".oracle/index").rglob("*")) if file.is_file()]


@pytest.mark.parametrize("damage", thinned(["empty", "noise", "cut", "gone"], 2))
@pytest.mark.parametrize("which", ["current", "catalogue.db", "meta.json", r".*\.(term|idx|fast)"])
def test_a_corrupted_index_is_built_anew(project, which, damage):
    for number in range(20):
        project.write(f"f{number}.py", f"def thing_{number}(): return '{word('old', number)}'\n")
    project.indexed().close()
    for file in files_of(project.root):
        if re.fullmatch(which, file.name):
            hurt(file, damage)
    index = project.indexed()
    assert paths(index.search(word("old", 7))) == ["f7.py"]
    assert len(index.definitions("thing_7")) == 1


def hurt(file, damage):
    content = file.read_bytes()
    # A new file: this process may still map the old one, and reading a map past the end of its file
    # kills the process.
    file.unlink()
    match damage:
        case "empty":
            file.write_bytes(b"")
        case "noise":
            file.write_bytes(bytes(range(256)) * 40)
        case "cut":
            file.write_bytes(content[: len(content) // 2])


def test_an_index_that_is_removed_while_open_is_built_anew(project):
    project.write("a.py", "alpha = 1\n")
    index = project.indexed()
    shutil.rmtree(project.root / ".oracle" / "index")
    assert paths(index.search("alpha")) == ["a.py"]


def test_an_index_of_another_format_is_built_anew(project, monkeypatch):
    project.write("a.py", "alpha = 1\n")
    project.indexed().close()
    monkeypatch.setattr("oracle.services.search.storage.FORMAT", 999)
    index = project.index()
    assert "another format" in index.refresh().rebuilt
    assert paths(index.search("alpha")) == ["a.py"]


def test_files_that_vanish_during_a_refresh_are_passed_over(project):
    for number in range(30):
        project.write(f"f{number}.py", f"alpha = {number}\n")

    def remove_the_others(step):
        for number in range(20, 30):
            (project.root / f"f{number}.py").unlink(missing_ok=True)

    index = project.index()
    index.refresh(remove_the_others)
    assert index.refresh().touched == 0
    assert len(index.paths()) == 20


def test_a_search_below_a_folder_ranks_what_is_there(project):
    for number in range(150):
        project.write(f"loud/f{number}.py", "tide = tide_tide = 'tide'\n" * 9)
    for path in ("quiet/deep/a.py", "quiet/b.py", "quieter.py", "quiet0/c.py"):
        project.write(path, "# nothing of the tide but a word\n")
    index = project.indexed()
    assert set(paths(index.search("tide", under="quiet"))) == {"quiet/deep/a.py", "quiet/b.py"}
    assert index.search("tide", under="quiet")[0].score == 1.0
    assert paths(index.search("tide", under="quiet/b.py")) == ["quiet/b.py"]
    assert paths(index.search("tide", under="quiet/deep/")) == ["quiet/deep/a.py"]
    assert index.search("tide", under="qui") == index.search("tide", under="nowhere") == []


def test_text_beyond_ascii_is_found_with_and_without_its_accents(project):
    project.write("größe.py", "# Die Größe des Fensters\nbreite = 1\n")
    project.write("ja.py", "# 設定ファイルを読み込む\n")
    project.write("latin.py", "# caf\xe9 au lait\n".encode("latin-1"))
    project.write("wide.txt", "tide tables".encode("utf-16"))
    index = project.indexed()
    assert paths(index.search("Größe"))[0] == paths(index.search("groesse grosse"))[0] == "größe.py"
    assert paths(index.search("設定ファイル")) == ["ja.py"]
    assert paths(index.search("lait")) == ["latin.py"]
    assert paths(index.search("tide", kind="vault")) == ["wide.txt"]


def test_notes_and_threads_are_kinds_of_their_own(project):
    project.write("notes/tide.md", "# Tide tables\n\nSee [[Moon]].\n")
    project.write("threads/tide.md", "## 2026-01-02 10:00\n\nTide tables are read at night.\n")
    project.write("tide.py", "tide = 'tables'\n")
    index = project.indexed()
    assert paths(index.search("tide tables", kind="vault")) == ["notes/tide.md"]
    assert paths(index.search("tide tables", kind="threads")) == ["threads/tide.md"]
    assert paths(index.search("tide tables", kind="code")) == ["tide.py", "notes/tide.md"]


def test_what_was_decided_is_found_where_decisions_are_kept(project):
    project.write("notes/storage.md", "# Storage\n\nStorage storage: disks, storage and prices.\n")
    project.write("docs/adr/0007-storage.md", "# Storage\n\nWe will keep events in SQLite.\n")
    found = project.indexed().search("what did we decide about storage?", kind="vault")
    assert paths(found)[0] == "docs/adr/0007-storage.md"


def test_known_terms_are_names_files_and_titles(project):
    project.write("src/shelf.py", SHELF)
    project.write("notes/a.md", "# Tide Tables\n")
    known = project.indexed().known_terms
    for term in ("BookShelf", "bookshelf", "put_book", "shelf.py", "shelf", "tide tables"):
        assert term in known, term
    assert "zebra" not in known
    assert 7 not in known


def test_a_known_term_has_the_number_of_its_files_and_the_projects_name_has_none(project):
    project.write("src/shelf.py", SHELF)
    project.write("src/other.py", SHELF + "\n\ndef only_here():\n    pass\n")
    index = project.indexed()
    known = index.known_terms
    assert (known.places_of("BookShelf"), known.places_of("only_here")) == (2, 1)
    assert known.places_of("zebra") is None
    assert known.places_of(index.root.name.upper().replace("-", "_")) == OWN_NAME


def test_definitions_and_references_of_a_name(project):
    project.write("src/shelf.py", SHELF)
    project.write(
        "use.py", "from shelf import BookShelf\n\n# BookShelf\nBookShelf().put_book('x')\n"
    )
    index = project.indexed()
    (found,) = index.definitions("BookShelf.put_book")
    assert (found.path, found.start, found.end, found.parent) == ("src/shelf.py", 5, 7, "BookShelf")
    assert [(each.path, each.line) for each in index.references("put_book")] == [("use.py", 4)]
    assert [each.line for each in index.references("BookShelf")] == [1, 4]
    assert index.definitions("nothing") == index.references("nothing") == []


def test_short_and_common_names_have_uses_too(project):
    project.write("a.cpp", "int f(int n) { return n; }\nint get(int n) { return n; }\n")
    project.write("b.cpp", "int x = ns::inner::f(2);\nint y = get(3);\n")
    index = project.indexed()
    for name, line in (("f", 1), ("get", 2)):
        assert [(each.path, each.line) for each in index.references(name)] == [("b.cpp", line)]


@pytest.mark.extra
def test_hundreds_of_places_are_all_returned(project):
    project.write("a.py", "\n".join(f"def put_book(): ...  # {each}" for each in range(700)))
    for number in range(350):
        project.write(f"uses/u{number}.py", "from a import put_book\n\nput_book()\n")
    index = project.indexed()
    assert len(index.definitions("put_book")) == len(index.references("put_book")) == 700


def test_a_map_shows_what_matters_within_its_budget(project):
    project.write("core.py", "def tide_height(): ...\n\ndef other_thing(): ...\n")
    for number in range(8):
        project.write(f"user{number}.py", "from core import tide_height\n\ntide_height()\n")
    index = project.indexed()
    drawn = index.repo_map("how high is the tide", token_budget=60)
    assert drawn.startswith("core.py\n  1: function tide_height")
    assert len(drawn) < 60 * 6
    assert index.repo_map("tide", token_budget=1) == ""


def test_the_root_of_an_index_must_be_a_folder(tmp_path):
    with pytest.raises(InputError, match="is not a folder"):
        Index.open(tmp_path / "missing")
