"""The table of all settings: name, kind, default and meaning of each, and their values.

A value comes from the defaults, from the user's own `oracle.toml`, from that at the project's root,
from an `ORACLE_*` variable or from a flag; later ones win. `limits.turns` is `turns` below
`[limits]` in a file and `ORACLE_LIMITS_TURNS` in the environment. The other names follow the same
rule.

This uses `tomllib` and not pydantic-settings, which cannot say where a value comes from, on which
line a mistake is, or what was meant, and takes a third of a second to import.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, cast

from oracle.errors import NotFound, did_you_mean
from oracle.services.control.ledger import Limits
from oracle.services.project.root import THREADS_FOLDER
from oracle.services.project.secret_files import SecretFiles
from oracle.services.settings.origin import Origin as Origin
from oracle.services.settings.value_types import (
    Address,
    Choice,
    DatabaseAddress,
    Folder,
    Kind,
    Number,
    Text,
    TextList,
    VariableName,
    WholeNumber,
    masked,
)

T = TypeVar("T")

PREFIX: Final = "ORACLE_"
EMBEDDED: Final = "embedded"
STALL_SECONDS: Final = 120.0
"""A server that sends nothing for this long has failed. Models that think are silent for long."""

ATTEMPTS: Final = 4
KEY_VARIABLES: Final = {
    "anthropic": "ANTHROPIC_API_KEY",
    "openai": "OPENAI_API_KEY",
    "tavily": "TAVILY_API_KEY",
    "brave": "BRAVE_API_KEY",
}
"""The variable of each provider's key. The names are those that the providers use."""

OPTIONAL_KEY_VARIABLES: Final = {"ollama": "OLLAMA_API_KEY"}
"""The same for providers that usually need no key."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """One row. A default of None means that nothing is set; `example` then shows a value."""

    name: str
    kind: Kind
    default: Any
    meaning: str
    example: Any
    flag: str | None

    @property
    def variable(self) -> str:
        return PREFIX + self.name.replace(".", "_").upper()

    @property
    def section(self) -> str:
        return self.name.partition(".")[0]


def _row(
    default: T, kind: Kind, meaning: str, *, example: Any = None, flag: str | None = None
) -> T:
    """A field of a section. The row of the table is kept in the field's metadata."""
    row = {"kind": kind, "meaning": meaning, "example": example, "flag": flag}
    return field(default=default, metadata=row)


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    name: str = _row(
        EMBEDDED,
        Text(words="embedded, a short name such as sonnet, or a provider and a model"),
        "The model to use (see `oracle models`): embedded, sonnet, or provider:model.",
        flag="--model",
    )
    base_url: str | None = _row(
        None,
        Address(),
        "Address of an OpenAI-compatible server, if not the provider's own.",
        example="http://127.0.0.1:8080/v1",
    )
    key_variable: str | None = _row(
        None,
        VariableName(),
        "Environment variable with the key, if not the provider's usual one.",
        example="TEAM_GATEWAY_KEY",
    )
    context_window: int | None = _row(
        None,
        WholeNumber(least=1_000),
        "Size of the model's context window in tokens, if not known from its name.",
        example=32_000,
    )
    longest_output: int | None = _row(
        None,
        WholeNumber(least=100),
        "Maximum size of a response in tokens, if not known from the model's name.",
        example=4_000,
    )
    input_price: float | None = _row(
        None,
        Number(),
        "Price of a million input tokens, if not known from the model's name.",
        example=3.0,
    )
    output_price: float | None = _row(
        None,
        Number(),
        "Price of a million output tokens, if not known from the model's name.",
        example=15.0,
    )

    stall_seconds: float = _row(
        STALL_SECONDS,
        Number(least=1),
        "Seconds without a sign of life after which the model's server has failed.",
    )
    attempts: int = _row(
        ATTEMPTS, WholeNumber(least=1), "How many times an overloaded server is asked."
    )

    @property
    def provider(self) -> str:
        return self.name.partition(":")[0]

    @property
    def key_name(self) -> str | None:
        """The variable that has the key; None if the provider needs none."""
        return self.key_variable or KEY_VARIABLES.get(self.provider)


_LIMITS: Final = Limits()


@dataclass(frozen=True, kw_only=True)
class LimitRows:
    """The rows of the ledger's `Limits`. `Settings.limits` is a `Limits`, not this."""

    turns: int = _row(
        _LIMITS.turns,
        WholeNumber(least=1),
        "Maximum number of model requests in a run; 1 means no tools.",
        flag="--max-turns",
    )
    tokens: int = _row(
        _LIMITS.tokens,
        WholeNumber(least=1),
        "Maximum number of tokens in a run, input and output together.",
    )
    money: float | None = _row(
        _LIMITS.money,
        Number(can_be_off=True),
        "Maximum cost of a run, in the currency of the prices; off for no limit.",
        flag="--max-cost",
    )
    seconds: float = _row(
        _LIMITS.seconds, Number(), "Maximum duration of a run in seconds.", flag="--timeout"
    )
    uses_of_a_tool: int = _row(
        _LIMITS.uses_of_a_tool, WholeNumber(), "Maximum number of calls of the same tool in a run."
    )


@dataclass(frozen=True, kw_only=True)
class VaultSettings:
    notes: str = _row(
        "notes", Folder(inside=True), "Folder for new notes, relative to the project's root."
    )

    @property
    def kept(self) -> tuple[str, ...]:
        """Folders that are read even if git ignores them."""
        return (self.notes, THREADS_FOLDER)


@dataclass(frozen=True, kw_only=True)
class WebSettings:
    provider: Literal["searxng", "tavily", "brave"] | None = _row(
        None,
        Choice(("searxng", "tavily", "brave")),
        "Provider of web searches: searxng, tavily or brave.",
        example="searxng",
    )
    url: str | None = _row(
        None,
        Address(),
        "Address of the provider; needed for searxng.",
        example="http://127.0.0.1:8888",
    )
    key_variable: str | None = _row(
        None,
        VariableName(),
        "Environment variable with the key, if not the provider's usual one.",
        example="TEAM_SEARCH_KEY",
    )

    @property
    def key_name(self) -> str | None:
        return self.key_variable or KEY_VARIABLES.get(self.provider or "")


@dataclass(frozen=True, kw_only=True)
class DatabaseSettings:
    url: str | None = _row(
        None,
        DatabaseAddress(),
        "Database to use; if not set, SQLite in .oracle/oracle.db of the project.",
        example="postgresql://team@db.example.org/oracle",
    )


@dataclass(frozen=True, kw_only=True)
class JournalSettings:
    failure: Literal["stop", "memory"] = _row(
        "stop",
        Choice(("stop", "memory")),
        "If a run cannot be recorded: stop it, or continue in memory.",
    )


@dataclass(frozen=True, kw_only=True)
class SecretSettings:
    files: tuple[str, ...] = _row(
        (),
        TextList(words='a list of names or paths, such as ["*.vars", "deploy/hosts.ini"]'),
        "More files that hold secrets, as in .gitignore; they are not read.",
    )
    allow: tuple[str, ...] = _row(
        (),
        TextList(words='a list of names or paths, such as ["*.vars", "deploy/hosts.ini"]'),
        "Files that are read although their names are those of secrets, as in .gitignore.",
    )
    hard_links: Literal["inside", "all"] = _row(
        "inside",
        Choice(("inside", "all")),
        "Which files with several names are read: if all names are inside the project, or all.",
    )

    @property
    def rules(self) -> SecretFiles:
        return SecretFiles(added=self.files, allowed=self.allow, hard_links=self.hard_links)


@dataclass(frozen=True, kw_only=True)
class PromptSettings:
    folder: str = _row(
        ".oracle/prompts",
        Folder(),
        "Folder of the project's own prompt segments.",
        flag="--prompts",
    )


@dataclass(frozen=True, kw_only=True)
class TreeSettings:
    folder: str | None = _row(
        None,
        Folder(),
        "Folder of trees that replace the built-in ones of the same name.",
        example="trees",
        flag="--in",
    )


@dataclass(frozen=True, kw_only=True)
class BertSettings:
    classification: Literal["on", "off"] = _row(
        "off", Choice(("on", "off")), "Whether BERT is asked too if the type of a query is unsure."
    )
    fallback: Literal["auto", "on", "off"] = _row(
        "auto",
        Choice(("auto", "on", "off")),
        "Whether BERT is asked too if a signal is unclear; auto means if it is installed.",
    )


SECTIONS: Final[Mapping[str, type[Any]]] = {
    "model": ModelSettings,
    "limits": LimitRows,
    "vault": VaultSettings,
    "web": WebSettings,
    "database": DatabaseSettings,
    "journal": JournalSettings,
    "secrets": SecretSettings,
    "prompts": PromptSettings,
    "trees": TreeSettings,
    "bert": BertSettings,
}


def _setting(section: str, column: Field[Any]) -> Setting:
    name = f"{section}.{column.name}"
    return Setting(name=name, default=column.default, **column.metadata)


SETTINGS: Final[Mapping[str, Setting]] = {
    row.name: row
    for section, kind in SECTIONS.items()
    for row in (_setting(section, column) for column in fields(kind))
}


def setting_named(name: str) -> Setting:
    if name not in SETTINGS:
        homes = [known for known in SETTINGS if known.endswith(f".{name}")]
        near = f"; did you mean {homes[0]!r}?" if homes else did_you_mean(name, SETTINGS)
        hint = near or "; `oracle config` lists all settings"
        raise NotFound(f"no setting {name!r}{hint}")
    return SETTINGS[name]


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """`root` is None outside a project. `warnings` are for the user to read."""

    model: ModelSettings
    limits: Limits
    vault: VaultSettings
    web: WebSettings
    database: DatabaseSettings
    journal: JournalSettings
    secrets: SecretSettings
    prompts: PromptSettings
    trees: TreeSettings
    bert: BertSettings
    root: Path | None
    origins: Mapping[str, Origin]
    warnings: tuple[str, ...] = ()

    def value(self, name: str) -> Any:
        section, _, key = setting_named(name).name.partition(".")
        return getattr(getattr(self, section), key)

    def shown(self, name: str) -> Any:
        """The value with passwords masked, safe to print."""
        value = self.value(name)
        if isinstance(value, tuple):
            return [masked(item) for item in cast("tuple[str, ...]", value)]
        return masked(value) if isinstance(value, str) else value

    def path(self, name: str) -> Path:
        """The folder that a setting names.

        A relative path in a file starts at the root; one in a variable or a flag starts at the
        working directory, as the user's shell would read it.
        """
        given = self.origins[name].source in ("variable", "flag")
        start = Path.cwd() if given or self.root is None else self.root
        # Not `Path.expanduser`, which fails for `~nobody`.
        return start / os.path.expanduser(self.value(name))

    def problem_of_file(self, path: Path) -> str | None:
        """Why a prompt or a tree is not read: a link makes it another name of a secret."""
        from oracle.services.project.hard_links import link_problem

        return link_problem(path, self.root, self.secrets.rules)


def load_settings(
    start: Path | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, object] | None = None,
) -> Settings:
    """The settings of the project that contains `start`, or else the working directory.

    `flags` are the values from the command line, by the setting's name; None means not given. All
    mistakes are reported in one `SettingsError`.
    """
    from oracle.services.project.root import here

    # Imported here, because it imports this module.
    from oracle.services.settings.resolve import resolve

    given = {name: value for name, value in (flags or {}).items() if value is not None}
    chosen = os.environ if environment is None else environment
    return resolve(start or here(), environment=chosen, flags=given)
