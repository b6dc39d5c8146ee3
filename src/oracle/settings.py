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
from dataclasses import Field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from oracle.errors import NotFound, did_you_mean
from oracle.lazy_dataclass import dataclass
from oracle.services.control.ledger import Limits
from oracle.services.settings.sections import (
    SECTIONS,
    BertSettings,
    DatabaseSettings,
    JournalSettings,
    LoopSettings,
    McpSettings,
    ModelSettings,
    PromptSettings,
    SecretSettings,
    ServerSettings,
    SpendSettings,
    TreeSettings,
    VaultSettings,
    WebSettings,
)
from oracle.services.settings.value_types import Folder, Kind, masked

if TYPE_CHECKING:
    from oracle.services.project.roots import Root

PREFIX: Final = "ORACLE_"
ROOTS: Final = "roots"
"""The one section whose settings the user names: further folders that questions are about."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """One row. A default of None means that nothing is set; `example` then shows a value.

    `other_variable` is read too, if the usual one is not set.
    """

    name: str
    kind: Kind
    default: Any
    meaning: str
    example: Any
    flag: str | None
    other_variable: str | None

    @property
    def variable(self) -> str:
        return PREFIX + self.name.replace(".", "_").upper()

    @property
    def section(self) -> str:
        return self.name.partition(".")[0]


def _setting(section: str, column: Field[Any]) -> Setting:
    name = f"{section}.{column.name}"
    return Setting(name=name, default=column.default, **column.metadata)


SETTINGS: Final[Mapping[str, Setting]] = {
    row.name: row
    for section, kind in SECTIONS.items()
    for row in (_setting(section, column) for column in fields(kind))
}


def setting_named(name: str) -> Setting:
    if name.startswith(f"{ROOTS}."):
        return Setting(
            name=name,
            kind=Folder(words="a folder, such as ../shared"),
            default=None,
            meaning="Another folder that questions are about; its files are found below this name.",
            example="../shared",
            flag=None,
            other_variable=None,
        )
    if name not in SETTINGS:
        homes = [known for known in SETTINGS if known.endswith(f".{name}")]
        near = f"; did you mean {homes[0]!r}?" if homes else did_you_mean(name, SETTINGS)
        hint = near or "; `oracle config` lists all settings"
        raise NotFound(f"no setting {name!r}{hint}")
    return SETTINGS[name]


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """Where a value comes from. As text: `default`, `~/.config/oracle/oracle.toml:3` (`user`),
    `oracle.toml:3` (`file`), `ORACLE_…` or `--flag`.
    """

    source: Literal["default", "user", "file", "variable", "flag"]
    place: str

    def __str__(self) -> str:
        return self.place


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
    loop: LoopSettings
    bert: BertSettings
    server: ServerSettings
    spend: SpendSettings
    mcp: McpSettings
    root: Path | None
    origins: Mapping[str, Origin]
    roots: tuple[Root, ...] = ()
    warnings: tuple[str, ...] = ()

    def value(self, name: str) -> Any:
        section, _, key = setting_named(name).name.partition(".")
        if section == ROOTS:
            return next((root.written for root in self.roots if root.name == key), None)
        return getattr(getattr(self, section), key)

    def shown(self, name: str) -> Any:
        """The value with passwords masked, safe to print."""
        value = self.value(name)
        if isinstance(value, tuple):
            return [masked(str(item)) for item in cast("tuple[object, ...]", value)]
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
