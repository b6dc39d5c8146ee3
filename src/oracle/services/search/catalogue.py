"""The files of the index in SQLite: their state on disk, what they define and what they use.

A passage of the text index counts only if its file's number is in the catalogue, and a number is
never used twice. So a text index that is newer or older than the catalogue cannot show wrong hits.
"""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from oracle.services.project.walk import FoundFile
from oracle.services.project.walk_memory import FolderDecisions, WalkMemory
from oracle.services.search.entries import Entry, FileCard, FileState
from oracle.services.search.records import Definition, Kind, Role
from oracle.services.search.symbols import Symbol

FORMAT: Final = 11
"""Raise it when the stored data changes: an index of another format is built again."""

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS files (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, name TEXT NOT NULL COLLATE NOCASE,
    stem TEXT NOT NULL COLLATE NOCASE, title TEXT COLLATE NOCASE, kind TEXT NOT NULL,
    role TEXT NOT NULL,
    size INTEGER NOT NULL, changed_ns INTEGER NOT NULL, digest BLOB NOT NULL,
    decides INTEGER NOT NULL, judged BLOB NOT NULL, secret TEXT
);
CREATE INDEX IF NOT EXISTS files_name ON files (name);
CREATE INDEX IF NOT EXISTS files_stem ON files (stem);
CREATE INDEX IF NOT EXISTS files_title ON files (title);
CREATE TABLE IF NOT EXISTS symbols (
    file INTEGER NOT NULL, name TEXT NOT NULL COLLATE NOCASE, kind TEXT NOT NULL, parent TEXT,
    start INTEGER NOT NULL, stop INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS symbols_name ON symbols (name);
CREATE INDEX IF NOT EXISTS symbols_file ON symbols (file);
CREATE TABLE IF NOT EXISTS uses (file INTEGER PRIMARY KEY, names TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS pending (file INTEGER PRIMARY KEY, path TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS fresh (file INTEGER PRIMARY KEY, passages TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS folders (
    prefix TEXT PRIMARY KEY, rules BLOB NOT NULL, names BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS skipped (
    path TEXT PRIMARY KEY, reason TEXT NOT NULL, size INTEGER NOT NULL, changed_ns INTEGER NOT NULL
) WITHOUT ROWID;
"""


_ROLES: Final = {role.value: role for role in Role}
_CARDS: Final = "SELECT id, path, kind, role, decides FROM files"
_DEFINED: Final = (
    "SELECT s.name, s.kind, s.parent, f.path, s.start, s.stop FROM symbols s "
    "JOIN files f ON f.id = s.file"
)
_BELOW: Final = "path >= ? AND path < ?"
"""Between `folder/` and `folder0`: 0 is the character after the slash."""


class Catalogue:
    """Without a `path` it is kept in memory."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._cards: dict[int, FileCard | None] = {}
        self._kinds: dict[str, bool] = {}
        self._cards_stamp = (-1, -1)
        # Tools look things up in worker threads, not always in the same one.
        self._connection = sqlite3.connect(
            path or ":memory:", timeout=30, isolation_level=None, check_same_thread=False
        )
        # An index in memory may be dropped without being closed.
        self.close = weakref.finalize(self, self._connection.close)
        # WAL: readers do not wait for the writer. NORMAL: a power cut may lose the last commits:
        # the next refresh redoes them from the files.
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.execute("PRAGMA cache_size = -16000")
        # Looking first, so that opening an index for reading does not need the write lock.
        if not self._has_schema():
            self._connection.executescript(_SCHEMA)

    def _has_schema(self) -> bool:
        query = "SELECT count(*) FROM sqlite_master WHERE name IN ('skipped', 'files', 'meta')"
        return self._connection.execute(query).fetchone()[0] == 3

    @contextmanager
    def transaction(self) -> Generator[None]:
        # The write lock is taken at once: a transaction that begins as a reader cannot wait for it.
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            # Some errors of SQLite, such as a full disk, have rolled it back already.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def meta(self, key: str) -> str | None:
        row = self._connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def set_meta(self, key: str, value: str) -> None:
        self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    # files

    def states(self) -> dict[str, FileState]:
        rows = self._connection.execute("SELECT path, id, size, changed_ns, digest FROM files")
        # Without a call of its own function for each of all files.
        make: Any = tuple.__new__  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        return {row[0]: make(FileState, row[1:]) for row in rows}

    def state(self, path: str) -> FileState | None:
        row = self._connection.execute(
            "SELECT id, size, changed_ns, digest FROM files WHERE path = ?", (path,)
        ).fetchone()
        return row and FileState(*row)

    def secret_lines(
        self, number: int, by: bytes, size: int, changed_ns: int
    ) -> frozenset[int] | None:
        """The lines of a file in this state that hold secrets, by the rules with the digest `by`.

        None if it is not known.
        """
        # Never if the stored time is 0: the file may have changed without a new time.
        query = "SELECT secret FROM files WHERE (id, judged, size, changed_ns) = (?, ?, ?, ?)"
        row = self._connection.execute(query, (number, by, size, changed_ns)).fetchone()
        return frozenset(map(int, row[0].split())) if row and row[0] is not None else None

    def paths_below(self, folder: str) -> list[str]:
        rows = self._connection.execute(
            f"SELECT path FROM files WHERE {_BELOW}", (f"{folder}/", f"{folder}0")
        )
        return [path for (path,) in rows]

    def numbers_at(self, place: str) -> list[int]:
        """The number of a file, or of all files in and below a folder."""
        rows = self._connection.execute(
            f"SELECT id FROM files WHERE path = ? OR ({_BELOW})", (place, f"{place}/", f"{place}0")
        )
        return [number for (number,) in rows]

    def cards(self, numbers: Iterable[int]) -> dict[int, FileCard]:
        """The cards of the numbers that are current, cached until the catalogue changes."""
        self._forget_what_has_changed()
        wanted = list(numbers)
        missing = [number for number in wanted if number not in self._cards]
        if missing:
            marks = ",".join("?" * len(missing))
            rows = self._connection.execute(f"{_CARDS} WHERE id IN ({marks})", missing)
            # A number that is not current is remembered too, as None, and not looked up again.
            self._cards.update(dict.fromkeys(missing))
            self._cards.update({row[0]: _card(row) for row in rows})
        return {number: card for number in wanted if (card := self._cards[number])}

    def has_kind(self, kind: Kind) -> bool:
        """Whether any file is of this kind, cached like the cards."""
        self._forget_what_has_changed()
        if kind not in self._kinds:
            query = "SELECT 1 FROM files WHERE kind = ? LIMIT 1"
            self._kinds[kind] = self._connection.execute(query, (kind,)).fetchone() is not None
        return self._kinds[kind]

    def _forget_what_has_changed(self) -> None:
        # Two counters: changes by other processes, and changes by this connection.
        stamp = (self._version(), self._connection.total_changes)
        if stamp != self._cards_stamp:
            self._cards.clear()
            self._kinds.clear()
            self._cards_stamp = stamp

    def _version(self) -> int:
        """Changes when another process writes."""
        return self._connection.execute("PRAGMA data_version").fetchone()[0]

    def all_cards(self) -> list[FileCard]:
        return [_card(row) for row in self._connection.execute(_CARDS)]

    def next_number(self) -> int:
        return int(self.meta("next_number") or 1)

    def remember_state(self, found: FoundFile) -> None:
        self._connection.execute(
            "UPDATE files SET size = ?, changed_ns = ? WHERE path = ?",
            (found.size, found.changed_ns, found.path),
        )

    # writing

    def announce(self, changes: Iterable[tuple[int, str]], *, next_number: int) -> None:
        """Store which files are about to change in the text index, to redo them after a crash."""
        self._connection.executemany("INSERT OR REPLACE INTO pending VALUES (?, ?)", changes)
        self.set_meta("next_number", str(next_number))

    def pending(self) -> list[tuple[int, str]]:
        return self._connection.execute("SELECT file, path FROM pending").fetchall()

    def settle(self) -> None:
        """The announced changes are complete in both halves of the index."""
        self._connection.execute("DELETE FROM pending")

    def forget(self, numbers: Sequence[int]) -> None:
        for table, column in (("files", "id"), ("symbols", "file"), ("uses", "file")):
            self._connection.executemany(
                f"DELETE FROM {table} WHERE {column} = ?", ((number,) for number in numbers)
            )

    def add(self, entries: Sequence[Entry]) -> None:
        self._connection.executemany(
            "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            map(_file_row, entries),
        )
        self._connection.executemany(
            "INSERT INTO symbols VALUES (?, ?, ?, ?, ?, ?)",
            (_symbol_row(entry.id, symbol) for entry in entries for symbol in entry.symbols),
        )
        # One row for each file instead of one for each name. The blanks at both ends let `users_of`
        # find whole names only.
        self._connection.executemany(
            "INSERT INTO uses VALUES (?, ?)",
            ((entry.id, f" {' '.join(entry.uses)} ") for entry in entries),
        )

    # what small updates added last, so that the next one can write it again in one piece

    def fresh(self) -> list[tuple[int, str]]:
        return self._connection.execute("SELECT file, passages FROM fresh").fetchall()

    def set_fresh(self, packed: Iterable[tuple[int, str]]) -> None:
        self._connection.execute("DELETE FROM fresh")
        self._connection.executemany("INSERT INTO fresh VALUES (?, ?)", packed)

    # skipped files, so that those known by their content are not read again

    def skipped(self) -> dict[str, tuple[int, int]]:
        rows = self._connection.execute("SELECT path, size, changed_ns FROM skipped")
        return {path: (size, changed) for path, size, changed in rows}

    def skip(self, found: FoundFile, reason: str) -> None:
        self._connection.execute(
            "INSERT OR REPLACE INTO skipped VALUES (?, ?, ?, ?)",
            (found.path, reason, found.size, found.changed_ns),
        )

    def unskip(self, paths: Iterable[str]) -> None:
        self._connection.executemany(
            "DELETE FROM skipped WHERE path = ?", ((path,) for path in paths)
        )

    # decisions of the walk by name, so that names are not matched again

    def walk_memory(self) -> WalkMemory:
        rows = self._connection.execute("SELECT prefix, rules, names FROM folders")
        return WalkMemory({row[0]: FolderDecisions.from_row(row) for row in rows})

    def remember_walk(self, changed: Iterable[FolderDecisions], gone: Iterable[str]) -> None:
        self._connection.executemany(
            "INSERT OR REPLACE INTO folders VALUES (?, ?, ?)",
            map(FolderDecisions.as_row, changed),
        )
        self._connection.executemany(
            "DELETE FROM folders WHERE prefix = ?", ((prefix,) for prefix in gone)
        )

    # reading

    def definitions(self, name: str, *, limit: int) -> list[Definition]:
        rows = self._connection.execute(f"{_DEFINED} WHERE s.name = ? LIMIT ?", (name, limit))
        return [_definition(row) for row in rows]

    def symbols_in(self, path: str) -> list[Definition]:
        rows = self._connection.execute(f"{_DEFINED} WHERE f.path = ? ORDER BY s.start", (path,))
        return [_definition(row) for row in rows]

    def users_of(self, name: str, *, limit: int) -> list[str]:
        """Paths of the files that use a name."""
        rows = self._connection.execute(
            "SELECT f.path FROM uses u JOIN files f ON f.id = u.file "
            "WHERE instr(u.names, ?) > 0 ORDER BY f.path LIMIT ?",
            (f" {name} ", limit),
        )
        return [path for (path,) in rows]

    def files_with(self, term: str, most: int) -> int:
        """How many files define this name, or have it as their name or title; `most` at most.

        In any case of letters.
        """
        (count,) = self._connection.execute(
            "SELECT COUNT(*) FROM (SELECT file FROM symbols WHERE name = :term"
            " UNION SELECT id FROM files WHERE name = :term"
            " UNION SELECT id FROM files WHERE stem = :term"
            " UNION SELECT id FROM files WHERE title = :term LIMIT :most)",
            {"term": term, "most": most},
        ).fetchone()
        return int(count)

    def top_names(self) -> Iterator[tuple[str, str]]:
        """Path and name of every definition at the top level of a file, in the order of lines."""
        return self._connection.execute(
            "SELECT f.path, s.name FROM symbols s JOIN files f ON f.id = s.file "
            "WHERE s.parent IS NULL AND s.kind != 'heading' ORDER BY f.path, s.start"
        )

    def all_uses(self) -> Iterator[tuple[int, list[str]]]:
        for number, names in self._connection.execute("SELECT file, names FROM uses"):
            yield number, names.split()

    def all_symbols(self) -> Iterator[tuple[int, str, str]]:
        """File, name and kind of every definition in code."""
        return self._connection.execute(
            "SELECT file, name, kind FROM symbols WHERE kind != 'heading'"
        )

    def symbol_at(self, number: int, start: int, end: int) -> Symbol | None:
        """The first definition in these lines, or else the innermost one around them."""
        for condition, order in (
            ("start BETWEEN ? AND ?", "start"),
            ("start < ? AND stop >= ?", "start DESC"),
        ):
            limits = (start, end) if order == "start" else (start, start)
            row = self._connection.execute(
                "SELECT name, kind, parent, start, stop FROM symbols "
                f"WHERE file = ? AND kind != 'constant' AND {condition} ORDER BY {order} LIMIT 1",
                (number, *limits),
            ).fetchone()
            if row:
                return _symbol(row)
        return None

    def defining(self, name: str, *, limit: int) -> list[tuple[int, int, int]]:
        """Where code defines a name in this spelling: file, first and last line, once per file."""
        # The first comparison, in any case of letters, is the one that the index answers.
        return self._connection.execute(
            "SELECT file, min(start), stop FROM symbols WHERE name = ? AND name = ? COLLATE BINARY "
            "AND kind != 'heading' GROUP BY file LIMIT ?",
            (name, name, limit),
        ).fetchall()

    def names_in(self, number: int, start: int, end: int) -> list[str]:
        """The names that are defined in these lines of a file."""
        rows = self._connection.execute(
            "SELECT name FROM symbols WHERE file = ? AND start BETWEEN ? AND ? "
            "AND kind NOT IN ('constant', 'heading') LIMIT 20",
            (number, start, end),
        )
        return [name for (name,) in rows]

    def outline(self, number: int) -> list[Symbol]:
        rows = self._connection.execute(
            "SELECT name, kind, parent, start, stop FROM symbols WHERE file = ? ORDER BY start",
            (number,),
        )
        return [_symbol(row) for row in rows]


def _symbol(row: tuple[str, str, str | None, int, int]) -> Symbol:
    name, kind, parent, start, stop = row
    return Symbol(name=name, kind=kind, parent=parent, start=start, end=stop)


def _card(row: tuple[int, str, Kind, str, int]) -> FileCard:
    number, path, kind, role, decides = row
    return FileCard(number, path, kind, _ROLES[role], decides)


def _file_row(entry: Entry) -> tuple[object, ...]:
    name = entry.path.rpartition("/")[2]
    stem = name.partition(".")[0] or name
    return (
        entry.id, entry.path, name, stem, entry.title, entry.kind, entry.role.value,
        entry.size, entry.changed_ns, entry.digest, entry.decides, entry.judged,
        None if entry.secret is None else " ".join(map(str, entry.secret)),
    )  # fmt: skip


def _symbol_row(number: int, symbol: Symbol) -> tuple[object, ...]:
    return (number, symbol.name, symbol.kind, symbol.parent, symbol.start, symbol.end)


def _definition(row: tuple[str, str, str | None, str, int, int]) -> Definition:
    name, kind, parent, path, start, stop = row
    return Definition(name=name, kind=kind, parent=parent, path=path, start=start, end=stop)
