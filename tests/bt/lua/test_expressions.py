"""The grammar of expressions: what it means, what it refuses, and that it means what Lua means."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lupa import lua54

from oracle.bt.core.context import TickContext
from oracle.bt.lua.expressions import Expression, ExpressionError
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.errors import LeafError
from tests.tables import each_row

BOARD = {
    "turn": 4,
    "ratio": 0.25,
    "name": "oracle",
    "signal": {"type": "stuck", "inner": {"n": 1}},
    "items": ["a", "b"],
    "yes": True,
    "no": False,
    "zero": 0,
}


def value_of(source, **values):
    board = TypedBlackboard()
    for key, value in {**BOARD, **values}.items():
        board.set(key, value)
    return Expression(source)(TickContext(blackboard=board))


@each_row(
    ("source", "expected"),
    [
        ("bb.turn > 3", True),
        ("bb.turn >= 5", False),
        ("bb.turn == 4 and bb.name == 'oracle'", True),
        ('bb.name ~= "oracle"', False),
        ("bb.signal.type == 'stuck'", True),
        ("bb.signal.inner.n == 1", True),
        ("bb.signal.missing == nil", True),
        ("bb.unset == nil", True),
        ("bb.unset.deeper.still == nil", True),
        ("not bb.unset", True),
        ("bb.zero", True),
        ("''", True),
        ("nil", False),
        ("false or nil", False),
        ("bb.no or bb.yes", True),
        ("bb.no and bb.yes or bb.zero", True),
        ("#bb.items == 2", True),
        ("#bb.name == 6", True),
        ("bb.turn % 3 == 1", True),
        ("bb.turn / 8 == 0.5", True),
        ("-bb.turn == 0 - 4", True),
        ("2 + 3 * 4 == 14", True),
        ("(2 + 3) * 4 == 20", True),
        ("10 - 3 - 2 == 5", True),
        ("not bb.yes == false", True),
        ("1 == 1.0", True),
        ("true == 1", False),
        ("bb.zero == false", False),
        ("'a' < 'b'", True),
        ("bb.ratio < 0.3", True),
        ("  bb.turn\n  > 3  ", True),
    ],
)
def test_meaning(source, expected):
    assert value_of(source) is expected


def test_and_and_or_stop_as_soon_as_they_know():
    assert value_of("bb.yes or bb.turn < 'x'") is True
    assert value_of("bb.no and bb.turn < 'x'") is False


def test_the_keys_that_it_reads_are_known_before_it_runs():
    assert Expression("bb.a > 1 and not (bb.b.c == bb.d)").keys == {"a", "b", "d"}


@each_row(
    "source",
    [
        "",
        "   ",
        "bb",
        "bb.",
        "bb.and",
        "bb.1",
        "bb.turn >",
        "> 3",
        "bb.turn = 3",
        "bb.turn > 3 bb.turn",
        "(bb.turn",
        "bb.turn)",
        "os.exit()",
        "bb.turn()",
        "bb['turn']",
        "'open",
        "'a\\n'",
        "bb.turn ^ 2",
        "bb.turn .. 'x'",
        "1e9",
        "0x10",
        "function() end",
        "bb.turn; bb.turn",
        "bb.türn",
        "__import__('os')",
        "(" * 200 + "1" + ")" * 200,
        "not " * 200 + "true",
        "1" + " + 1" * 1000,
    ],
)
def test_what_is_not_in_the_grammar_is_refused_when_it_is_parsed(source):
    with pytest.raises(ExpressionError):
        Expression(source)


@each_row(
    "source",
    [
        "bb.unset > 3",
        "bb.name > 3",
        "bb.yes < bb.no",
        "bb.name + 1 == 2",
        "bb.yes + 1 == 2",
        "#bb.turn == 1",
        "-bb.name == 1",
        "bb.turn / 0 == 1",
        "bb.turn % 0 == 1",
        "bb.turn.field == 1",
    ],
)
def test_a_value_of_the_wrong_type_is_an_error_not_a_guess(source):
    with pytest.raises(LeafError):
        value_of(source)


@given(st.text(max_size=60))
def test_any_text_is_parsed_or_refused(text):
    with suppress(ExpressionError):
        Expression(text)


atoms = st.sampled_from(["bb.turn", "bb.ratio", "bb.zero", "1", "2.5", "0", "7"])
numbers = st.recursive(
    atoms,
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*"]), inner)
        | st.builds("-{}".format, st.builds("({})".format, inner))
    ),
    max_leaves=6,
)
comparisons = st.builds(
    "{} {} {}".format, numbers, st.sampled_from(["==", "~=", "<", "<=", ">", ">="]), numbers
)
truths = st.recursive(
    comparisons | st.sampled_from(["true", "false", "nil", "bb.unset", "bb.yes", "bb.no"]),
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or"]), inner)
        | st.builds("not ({})".format, inner)
    ),
    max_leaves=6,
)
lua = lua54.LuaRuntime(register_eval=False)
lua_board = lua.table_from(BOARD)


@given(truths)
def test_it_means_what_lua_means(source):
    if source.count("(") > 25:
        return
    real = lua.execute(f"local bb = ...; return ({source}) and true or false", lua_board)
    assert value_of(source) is real
