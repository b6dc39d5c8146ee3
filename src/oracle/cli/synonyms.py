"""Words that people know from other programs, and what they are called here.

They are suggested, not accepted: a command has one name, which the help and the documents use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

_Words: TypeAlias = tuple[str, ...]

_COMMANDS: Final[Mapping[str, str]] = {
    "version": "--version",
    "show": "run show",
    "last": "run show",
    "list": "runs",
    "resume": "run resume",
    "continue": "chat --session last",
    "export": "sessions export",
    "rename": "sessions rename",
    "delete": "sessions delete",
    "history": "runs",
    "logs": "runs",
    "log": "runs",
    "settings": "config",
    "setup": "doctor",
    "status": "doctor",
    "templates": "questions",
    "plugins": "tools",
}
_SHOW: Final[_Words] = ("get", "cat", "view", "print", "read")
_LIST: Final[_Words] = ("ls", "list", "all")
_REMOVE: Final[_Words] = ("rm", "del", "delete", "remove", "unset", "clear")
_SET: Final[_Words] = ("set", "add", "store", "save", "put", "create", "new")
_SUBCOMMANDS: Final[Mapping[str, Mapping[_Words, str]]] = {
    "config": {
        _SHOW: "config show",
        _LIST: "config show",
        _REMOVE: "config unset",
        ("add", "put", "write"): "config set",
        ("edit", "file", "where"): "config path",
    },
    "keys": {_SHOW: "keys list", _LIST: "keys list", _REMOVE: "keys remove", _SET: "keys set"},
    "models": {
        _LIST: "models list",
        ("set", "select", "switch", "choose", "default", "add"): "models use",
    },
    "questions": {_LIST: "questions", _SHOW: "questions"},
    "run": {_LIST: "runs", _SHOW: "run show", ("continue", "retry"): "run resume"},
    "runs": {_LIST: "runs", ("show", *_SHOW): "run show", ("resume",): "run resume"},
    "sessions": {
        _LIST: "sessions list",
        _SHOW: "sessions show",
        _REMOVE: "sessions delete",
        ("mv", "title", "name"): "sessions rename",
        ("save", "dump"): "sessions export",
    },
    "token": {_LIST: "token list", _REMOVE: "token revoke", _SET: "token create"},
    "tools": {_LIST: "tools", ("allow",): "tools trust", ("forbid",): "tools untrust"},
    "tree": {_LIST: "tree list", _SHOW: "tree show", ("draw", "render"): "tree show"},
}
_TAKES_NOTHING: Final = frozenset(["config path", "keys list", "models list", "runs", "tools"])
_OPTIONS: Final[Mapping[str, str]] = dict.fromkeys(
    ("-c", "--continue", "-r", "--resume"), "--session last"
) | {"-a": "--file", "--attachment": "--file", "--fragment": "--file", "--yolo": "--yes"}


def known_command(word: str, rest: Sequence[str]) -> str:
    """The command that a single word means, with the id after it; empty if there is none.

    >>> known_command("show", ["last"]), known_command("logs", []), known_command("login", [])
    ('oracle run show last', 'oracle runs', '')
    """
    if word not in _COMMANDS or rest[1:] or not all(map(is_id, rest)):
        return ""
    return " ".join(["oracle", _COMMANDS[word], *rest])


def known_option(name: str) -> str:
    return _OPTIONS.get(name, "")


def meant_by(arguments: Sequence[str]) -> str:
    """The command that a wrong one of two words probably means; empty if that is not clear.

    >>> meant_by(["runs", "last"]), meant_by(["keys", "rm", "openai"]), meant_by(["ask", "last"])
    ('oracle run show last', 'oracle keys remove openai', '')
    """
    first, word, *rest = (*(word for word in arguments if not word.startswith("-")), "", "")
    rest = [each for each in rest if each]
    if is_id(word):
        shows = {"run": "run show", "runs": "run show", "sessions": "sessions show"}
        return f"oracle {shows[first]} {word}" if first in shows else ""
    for words, command in _SUBCOMMANDS.get(first, {}).items():
        if word in words and command != f"{first} {word}":
            return " ".join(["oracle", command, *(rest if command not in _TAKES_NOTHING else ())])
    return ""


def is_id(word: str) -> bool:
    return word.lower() == "last" or (len(word) >= 4 and set(word) <= set("0123456789abcdef"))
