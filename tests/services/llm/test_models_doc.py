"""docs/models.md says what the code has."""

import inspect
import re
from pathlib import Path

from oracle.errors import ModelError
from oracle.services.llm.opening import open_model
from oracle.services.llm.providers import PROVIDERS

PAGE = (Path(__file__).parents[3] / "docs" / "models.md").read_text(encoding="utf-8")


def rows(header):
    """The cells in backticks of the table below a header, row by row."""
    table = PAGE.split(f"| {header} |")[1].split("\n\n")[0].splitlines()[2:]
    return [re.findall(r"`([^`]+)`", row) for row in table]


def test_the_providers_of_the_page_are_those_of_the_table():
    assert rows("provider") == [
        [provider.name, provider.key_variable, provider.address_variable, provider.address]
        for provider in PROVIDERS.values()
    ]


def test_every_argument_of_open_model_is_on_the_page():
    taken = set(inspect.signature(open_model).parameters) - {"name", "environment", "advice"}
    assert {row[0] for row in rows("argument")} == taken


def test_every_kind_of_failure_is_on_the_page():
    kinds = {ModelError, *ModelError.__subclasses__()}
    assert {row[0] for row in rows("error")} == {kind.__name__ for kind in kinds}
