"""What the shell completes: ids of runs and sessions, types of events, trees and commands.

A completion only reads, and it never fails: without an answer nothing is offered. It reads SQLite
directly, without the threads of an open database: a person waits for Tab.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeAlias

import typer

from oracle.cli.terminal.safe_text import printable

if TYPE_CHECKING:
    from sqlite3 import Connection

    from oracle.settings import Settings

Parameters = ParamSpec("Parameters")
Words: TypeAlias = list[tuple[str, str]]
"""Each word with its description, which zsh and fish show beside it."""

MOST_OFFERED: Final = 30
LONGEST_DESCRIPTION: Final = 60

# Bash splits a word at @, : and =, so `@src/a` arrives in two. The parts that were typed without a
# blank between them are joined again, and what bash does not replace is taken off the answers.
BASH: Final = """
%(complete_func)s() {
    local IFS=$'\\n' line="${COMP_LINE:0:COMP_POINT}" words=() kept word at last
    for (( at = 0; at <= COMP_CWORD; at++ )); do
        word="${COMP_WORDS[at]}"
        if (( at > 0 )) && [[ -n $word && $line == "$word"* ]]; then
            words[last]+="$word"
        else
            line="${line#"${line%%%%[![:space:]]*}"}"
            last=${#words[@]}
            words[last]="$word"
        fi
        line="${line#"$word"}"
    done
    kept="${words[last]%%"$word"}"
    [[ $word == [@:=] ]] && kept="${words[last]}"
    COMPREPLY=( $( env COMP_WORDS="${words[*]}" \\
                   COMP_CWORD=$last \\
                   %(autocomplete_var)s=complete_bash $1 ) )
    COMPREPLY=( "${COMPREPLY[@]#"$kept"}" )
    return 0
}

complete -o default -F %(complete_func)s %(prog_name)s
"""


def use_our_script() -> None:
    """Replace typer's script for bash, which loses `@` paths."""
    from typer import _completion_shared  # pyright: ignore[reportPrivateUsage]

    scripts: dict[str, str] = _completion_shared._completion_scripts  # pyright: ignore
    scripts["bash"] = BASH


def _never_fails(offer: Callable[Parameters, Words]) -> Callable[Parameters, Words]:
    @wraps(offer)
    def offered(*arguments: Parameters.args, **options: Parameters.kwargs) -> Words:
        try:
            return offer(*arguments, **options)
        except Exception:  # a message would be printed into the line that the user is typing
            return []

    return offered


@_never_fails
def runs_beginning(incomplete: str) -> Words:
    return _ids("runs", "question", "started_at", incomplete)


@_never_fails
def sessions_beginning(incomplete: str) -> Words:
    return _ids("sessions", "title", "updated_at", incomplete)


@_never_fails
def types_beginning(incomplete: str) -> Words:
    from oracle.services.ans.event_types import EVENT_TYPES

    families = dict.fromkeys(f"{name.partition('.')[0]}.*" for name in EVENT_TYPES)
    words = [(name, f"when {type_.when}") for name, type_ in EVENT_TYPES.items()]
    return _beginning(incomplete, [*words, *((family, "all of them") for family in families)])


@_never_fails
def trees_beginning(incomplete: str) -> Words:
    from oracle.bt.lua.declarations import declared_trees
    from oracle.bt.wrappers.own_trees import trees_in_use
    from oracle.settings import load_settings

    sources, _ = trees_in_use(load_settings())
    names = [tree.name for file, text in sources.items() for tree in declared_trees(text, file)]
    return _beginning(incomplete, [(name, "") for name in names])


@_never_fails
def commands_beginning(ctx: typer.Context, incomplete: str) -> Words:
    """For `oracle help`: the commands below those that were typed already."""
    group: Any = ctx.parent and ctx.parent.command
    for word in ctx.params.get("command") or ():
        group = group.commands[word]
    return _beginning(incomplete, [(name, "") for name in group.commands])


def _beginning(incomplete: str, words: Iterable[tuple[str, str]]) -> Words:
    return [each for each in words if each[0].startswith(incomplete)]


def _ids(table: str, text: str, newest: str, incomplete: str) -> Words:
    """The newest ids, each as a prefix of at least 8 characters that no other id has."""
    from oracle.settings import load_settings

    # Ids are hexadecimal, so `g` comes after all that begin with the prefix.
    query = f"""
        SELECT id, {text}, (SELECT count(*) FROM {table} AS other WHERE
            other.id >= substr({table}.id, 1, 8) AND other.id < substr({table}.id, 1, 8) || 'g')
        FROM {table} WHERE substr(id, 1, ?) = ? ORDER BY {newest} DESC LIMIT ?
    """
    with closing(_opened(load_settings())) as connection:
        rows = connection.execute(query, (len(incomplete), incomplete, MOST_OFFERED)).fetchall()
    words = _beginning(incomplete, [("last", "the newest one")])
    for id_, about, similar in rows:
        length = len(id_) if similar > 1 else max(8, len(incomplete))
        words.append((id_[:length], printable(str(about))[:LONGEST_DESCRIPTION]))
    return words


def _opened(settings: Settings) -> Connection:
    import sqlite3
    from urllib.parse import quote

    address = f"file:{quote(str(_database_file(settings).absolute()))}?mode=ro"
    return sqlite3.connect(address, uri=True, timeout=0.2)


def _database_file(settings: Settings) -> Path:
    from oracle.services.project.root import user_folder

    if settings.database.url is not None:
        from oracle.services.storage.database import url_from

        url = url_from(settings, settings.database.url)
        if url.kind != "sqlite":
            raise ValueError("a server is not asked while somebody types")
        return Path(str(url.database))
    return (settings.root / ".oracle" if settings.root else user_folder()) / "oracle.db"
