"""The rows of the table of settings, by section: kind, default and meaning of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from oracle.lazy_dataclass import dataclass
from oracle.services.control.ledger import Limits
from oracle.services.project.root import THREADS_FOLDER
from oracle.services.project.secret_files import SecretFiles
from oracle.services.settings.mcp_servers import McpServer, Servers
from oracle.services.settings.team_sections import ServerSettings, SpendSettings
from oracle.services.settings.team_sections import row as _row
from oracle.services.settings.value_types import (
    Address,
    Choice,
    DatabaseAddress,
    Folder,
    Number,
    OnOff,
    Text,
    TextList,
    VariableName,
    WholeNumber,
)

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
        ATTEMPTS,
        WholeNumber(least=1),
        "How many times an overloaded server is asked.",
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
    provider: Literal["searxng", "tavily", "brave", "ddgs"] | None = _row(
        None,
        Choice(("searxng", "tavily", "brave", "ddgs")),
        "Provider of web searches: searxng, tavily, brave, or ddgs, which needs no key but reads "
        "result pages unofficially and may be blocked or rate limited.",
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
    keep_days: float | None = _row(
        None,
        Number(least=1, can_be_off=True),
        "Days after which `oracle serve` and `oracle worker` delete what was not used; off to keep "
        "everything.",
        example=90,
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
class LoopSettings:
    use_bt: Literal[True, False, "shadow"] = _row(
        True,
        OnOff(also=("shadow",)),
        "Which loop answers: the tree, the plain loop, or one with the other in its shadow.",
        other_variable="ORACLE_USE_BT",
    )
    serves: Literal["tree", "baseline"] = _row(
        "tree",
        Choice(("tree", "baseline")),
        "In shadow mode, the loop whose answers you get.",
    )
    shadow_share: float = _row(
        1.0,
        Number(most=1),
        "In shadow mode, the share of questions that the other loop answers too.",
    )
    shadow_money: float | None = _row(
        0.25,
        Number(can_be_off=True),
        "In shadow mode, the maximum cost of the other loop for a question; off for no limit.",
    )

    @property
    def answers(self) -> Literal["tree", "baseline"]:
        """The loop whose answers the user gets."""
        if self.use_bt == "shadow":
            return self.serves
        return "tree" if self.use_bt else "baseline"


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


@dataclass(frozen=True, kw_only=True)
class McpSettings:
    servers: tuple[McpServer, ...] = _row(
        (),
        Servers(),
        "Other servers whose tools are used, each in a table [mcp.servers.NAME].",
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
    "loop": LoopSettings,
    "bert": BertSettings,
    "server": ServerSettings,
    "spend": SpendSettings,
    "mcp": McpSettings,
}
