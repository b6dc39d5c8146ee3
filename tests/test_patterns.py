"""Regular expressions are compiled late, and behave as if they were compiled at once."""

import gc
import importlib
import pkgutil
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

import oracle
from oracle.patterns import LazyPattern, lazy_pattern
from tests.tables import each_row

TEXT = "one TWO three two"


@pytest.mark.extra
def test_every_pattern_of_the_package_can_be_compiled():
    for found in pkgutil.walk_packages(oracle.__path__, "oracle."):
        importlib.import_module(found.name)
    gc.unfreeze()  # what conftest.py has set aside is not listed
    patterns = [found for found in gc.get_objects() if type(found) is LazyPattern]
    gc.freeze()
    assert len(patterns) > 250
    for pattern in patterns:
        pattern.search("")


@each_row(
    ("method", "arguments"),
    [
        ("search", (TEXT,)),
        ("search", (TEXT, 5)),
        ("match", (TEXT, 4, 6)),
        ("fullmatch", ("two",)),
        ("findall", (TEXT,)),
        ("split", (TEXT, 1)),
        ("sub", ("2", TEXT)),
        ("subn", (lambda found: found[0].lower(), TEXT)),
    ],
)
def test_it_gives_what_a_compiled_one_gives(method, arguments):
    expected = getattr(re.compile("(t)wo", re.I), method)(*arguments)
    given = getattr(lazy_pattern("(t)wo", re.I), method)(*arguments)
    if isinstance(expected, re.Match):
        expected, given = (expected.span(), expected.groups()), (given.span(), given.groups())
    assert given == expected


def test_it_has_the_facts_of_a_compiled_one():
    late, compiled = lazy_pattern("(?P<who>a)|b", re.M), re.compile("(?P<who>a)|b", re.M)
    facts = ("pattern", "flags", "groups", "groupindex")
    assert [getattr(late, fact) for fact in facts] == [getattr(compiled, fact) for fact in facts]


def test_it_is_compiled_at_the_first_use_and_only_then():
    pattern = lazy_pattern("(unclosed")
    assert pattern.pattern == "(unclosed"
    with pytest.raises(re.error):
        pattern.search("")


def test_threads_can_use_it_first_at_the_same_time():
    pattern = lazy_pattern(r"\d+")
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(pattern.findall, [f"a{n}b" for n in range(100)]))
    assert found == [[str(n)] for n in range(100)]


def test_it_has_no_other_attributes():
    with pytest.raises(AttributeError, match="no attribute 'compile'"):
        _ = lazy_pattern("a").compile
