"""The rows of the table of settings for what many users share: a server, and money."""

from __future__ import annotations

from dataclasses import field
from typing import Any, TypeVar

from oracle.lazy_dataclass import dataclass
from oracle.services.settings.value_types import Kind, Number, WholeNumber

T = TypeVar("T")


def row(
    default: T,
    kind: Kind,
    meaning: str,
    *,
    example: Any = None,
    flag: str | None = None,
    other_variable: str | None = None,
) -> T:
    """A field of a section. The row of the table is kept in the field's metadata."""
    kept = {"kind": kind, "meaning": meaning, "example": example, "flag": flag}
    kept["other_variable"] = other_variable
    return field(default=default, metadata=kept)


@dataclass(frozen=True, kw_only=True)
class ServerSettings:
    most_runs: int = row(
        100,
        WholeNumber(least=1),
        "Questions that `oracle serve` answers at once.",
        flag="--most-runs",
    )
    most_runs_of_user: int = row(
        20, WholeNumber(least=1), "Questions of one user that the server answers at once."
    )
    requests_per_minute: float | None = row(
        600.0,
        Number(least=1, can_be_off=True),
        "Requests of one token in a minute; without tokens, of one address; off for no limit.",
    )
    most_bytes: int = row(
        4 * 1024 * 1024, WholeNumber(least=1_000), "Maximum size of a request in bytes."
    )


@dataclass(frozen=True, kw_only=True)
class SpendSettings:
    """Budgets of all runs together. Days and months are those of UTC."""

    user_money_per_day: float | None = row(
        None,
        Number(can_be_off=True),
        "Maximum cost of the runs of one user in a day, in the currency of the prices.",
        example=5.0,
    )
    user_money_per_month: float | None = row(
        None,
        Number(can_be_off=True),
        "Maximum cost of the runs of one user in a month.",
        example=50.0,
    )
    user_tokens_per_day: float | None = row(
        None,
        Number(can_be_off=True),
        "Maximum number of tokens of the runs of one user in a day, input and output together.",
        example=5_000_000,
    )
    user_tokens_per_month: float | None = row(
        None,
        Number(can_be_off=True),
        "Maximum number of tokens of the runs of one user in a month.",
        example=50_000_000,
    )
    project_money_per_day: float | None = row(
        None,
        Number(can_be_off=True),
        "Maximum cost of all runs of the project in a day.",
        example=20.0,
    )
    project_money_per_month: float | None = row(
        None,
        Number(can_be_off=True),
        "Maximum cost of all runs of the project in a month.",
        example=200.0,
    )
    project_tokens_per_day: float | None = row(
        None,
        Number(can_be_off=True),
        "Maximum number of tokens of all runs of the project in a day.",
        example=20_000_000,
    )
    project_tokens_per_month: float | None = row(
        None,
        Number(can_be_off=True),
        "Maximum number of tokens of all runs of the project in a month.",
        example=200_000_000,
    )
