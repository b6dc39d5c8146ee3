"""Our dataclasses behave like the standard ones, and their constructor is made late."""

import copy
import dataclasses
import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import oracle
from oracle.lazy_dataclass import dataclass as late

OPTIONS = [
    {},
    {"frozen": True},
    {"kw_only": True},
    {"slots": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "kw_only": True, "slots": True},
]


def made(decorator, **options):
    @decorator(**options)
    class Point:
        x: int
        y: int = 2
        tags: list[str] = dataclasses.field(default_factory=list)
        unseen: int = dataclasses.field(default=0, repr=False, compare=False)
        doubled: int = dataclasses.field(init=False, default=4)

    return Point


@dataclasses.dataclass
class Pair:
    """The same class, made by both decorators."""

    standard: type
    late: type


@pytest.fixture(params=OPTIONS, ids=str)
def pair(request):
    return Pair(made(dataclasses.dataclass, **request.param), made(late, **request.param))


def outcome(function, *arguments, **named):
    """What is returned, or what is raised."""
    try:
        return function(*arguments, **named)
    except Exception as problem:
        return type(problem), str(problem)


@pytest.mark.parametrize(
    "given",
    [{"x": 1}, {"x": 1, "y": 3, "tags": ["a"]}, {}, {"x": 1, "z": 2}, {"x": 1, "doubled": 2}],
    ids=str,
)
def test_it_takes_the_same_arguments(pair, given):
    assert repr(outcome(pair.late, **given)) == repr(outcome(pair.standard, **given))


def test_it_takes_the_same_positions(pair):
    for count in range(5):
        given = list(range(count))
        assert repr(outcome(pair.late, *given)) == repr(outcome(pair.standard, *given))


def test_each_object_gets_a_default_of_its_own(pair):
    assert pair.late(x=1).tags is not pair.late(x=1).tags


def test_equal_is_what_has_equal_fields_and_the_same_class(pair):
    assert pair.late(x=1) == pair.late(x=1, unseen=5)
    assert pair.late(x=1) != pair.late(x=2)
    assert pair.late(x=1) != pair.standard(x=1)


@pytest.mark.parametrize(
    "change",
    [
        lambda this: setattr(this, "x", 5),
        lambda this: setattr(this, "new", 5),
        lambda this: delattr(this, "x"),
        lambda this: hash(dataclasses.replace(this, tags=())),
    ],
)
def test_what_can_be_changed_and_hashed_is_the_same(pair, change):
    standard, ours = (outcome(change, kind(x=1)) for kind in (pair.standard, pair.late))
    # Which error it is differs between versions of Python.
    assert isinstance(ours, tuple) == isinstance(standard, tuple)


def test_a_frozen_object_says_so():
    point = made(late, frozen=True)(x=1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="'x'"):
        point.x = 5


def test_the_functions_of_the_standard_library_work(pair):
    point = pair.late(x=1, tags=["a"])
    assert dataclasses.asdict(point) == dataclasses.asdict(pair.standard(x=1, tags=["a"]))
    assert dataclasses.replace(point, y=9).y == 9
    assert copy.copy(point) == copy.deepcopy(point) == point
    assert pair.late.__match_args__ == pair.standard.__match_args__


@late(frozen=True, slots=True)
class Base:
    first: int

    def __post_init__(self) -> None:
        if self.first < 0:
            raise ValueError("negative")


@late(frozen=True, slots=True)
class Below(Base):
    second: str = ""

    def __repr__(self) -> str:
        return "own"


def test_fields_are_inherited_and_checked_and_own_methods_stay():
    assert repr(Base(1)) == "Base(first=1)"
    assert repr(Below(1, "b")) == "own"
    assert Below(1, "b") != Below(1, "c")
    assert hash(Below(1, "b")) == hash(Below(1, "b"))
    with pytest.raises(ValueError, match="negative"):
        Below(-1)


def test_frozen_objects_can_be_pickled():
    assert pickle.loads(pickle.dumps(Below(1, "b"))) == Below(1, "b")


def test_a_class_that_names_itself_is_shown():
    @late
    class Node:
        """With a docstring."""

        below: list["Node"] = dataclasses.field(default_factory=list)

    node = Node()
    node.below.append(node)
    assert repr(node).endswith("Node(below=[...])")
    assert Node.__doc__ == "With a docstring."


@pytest.mark.parametrize("given", [{"x": 1}, {}, {"x": 1, "z": 2}], ids=str)
def test_a_compiled_constructor_does_the_same(pair, given):
    outcomes = {repr(outcome(pair.late, **given)) for _ in range(10)}
    assert outcomes == {repr(outcome(pair.standard, **given))}


def test_an_argument_that_is_given_twice_is_refused():
    with pytest.raises(TypeError, match="multiple values for argument 'first'"):
        Base(1, first=1)


def test_the_constructor_is_compiled_after_a_few_objects():
    kind = made(late, frozen=True)
    before = kind.__init__
    kind(1)
    assert kind.__init__ is before
    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(lambda x: kind(x, tags=()), range(100)))) == 100
    assert kind.__init__ is not before
    assert kind.__init__.__qualname__ == f"{kind.__qualname__}.__init__"


# What measures, and what tests. It never starts in a hurry, and stored figures depend on its text.
MEASURING = ("evaluation/", "testing/", "services/comparison/facts.py")


def test_every_dataclass_that_commands_import_is_made_so():
    source = Path(oracle.__file__).parent
    standard = [
        name
        for file in source.rglob("*.py")
        if re.search(r"^from dataclasses import .*\bdataclass\b", file.read_text("utf-8"), re.M)
        and not (name := file.relative_to(source).as_posix()).startswith(MEASURING)
    ]
    # It extends a class of typer's, and the standard decorator refuses a mixture.
    assert standard == ["cli/plain_parameters.py"]
