"""The arguments of our tools are read and described as pydantic would, but without it."""

import importlib
import json
import pkgutil

import pytest

from oracle.errors import BadArguments
from oracle.services import tools
from oracle.services.tools.model_arguments import checked, model_schema
from oracle.services.tools.plain_arguments import PlainArguments, plain_schema, plainly_read
from oracle.services.tools.read_file import ReadFile


def every_class():
    for found in pkgutil.iter_modules(tools.__path__):
        importlib.import_module(f"oracle.services.tools.{found.name}")
    return sorted(PlainArguments.__subclasses__(), key=lambda cls: cls.__name__)


@pytest.mark.parametrize("cls", every_class(), ids=lambda cls: cls.__name__)
def test_each_tool_is_described_exactly_as_by_pydantic(cls):
    # As text, because the order of the keys is part of a recorded request.
    assert json.dumps(plain_schema(cls)) == json.dumps(model_schema(cls))


def test_there_is_a_class_for_each_tool():
    assert len(every_class()) >= 12


PATH = {"path": "a.py"}


@pytest.mark.parametrize(
    "given",
    [
        PATH,
        {"path": "a" * 1000, "start": 1, "end": 9, "symbol": "s"},
        {"path": "a.py", "end": None, "symbol": None},
    ],
)
def test_what_is_plainly_right_is_read_without_pydantic(given):
    assert plainly_read(ReadFile, given) == checked(ReadFile, given)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"path": ""},
        {"path": "a" * 1001},
        {"path": None},
        {"path": 5},
        {**PATH, "start": 0},
        {**PATH, "start": True},
        {**PATH, "start": "3"},
        {**PATH, "start": 3.0},
        {**PATH, "start": None},
        {**PATH, "symbol": ""},
        {**PATH, "strat": 1},
    ],
)
def test_the_rest_is_left_to_pydantic(given):
    assert plainly_read(ReadFile, given) is None


def test_pydantic_converts_what_it_can():
    assert checked(ReadFile, {**PATH, "start": "3"}) == ReadFile(path="a.py", start=3)


def test_pydantic_says_what_is_wrong():
    with pytest.raises(BadArguments, match=r"the argument 'path' is missing; it has no argument"):
        checked(ReadFile, {"pth": "a.py"})
