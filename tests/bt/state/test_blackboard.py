"""Scopes, types, snapshots."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.bt.state.blackboard import TypedBlackboard
from oracle.bt.state.schema import Key, key_from_name
from oracle.errors import BlackboardError
from tests.tables import each_row


def typed(**schema):
    return TypedBlackboard(scope_name="run", schema=schema)


@each_row(
    ("held", "good", "bad"),
    [
        (str, ["", "x"], [1, None, b"x", ["x"]]),
        (int, [0, -3], [1.0, True, "1", None]),
        (float, [0.5, 2], [True, "2", None]),
        (bool, [True, False], [0, 1, None, "true"]),
        (list, [[], [1]], [(1,), {}, "ab", None]),
        (dict, [{}, {"a": 1}], [[], "{}", None]),
        (object, [None, 1, "x", [], {}, True], [{1}, (1,), object(), b""]),
    ],
)
def test_a_key_holds_its_type_and_nothing_that_is_only_similar(held, good, bad):
    board = typed(k=held)
    for value in good:
        board.set("k", value)
        assert board.get("k") == value
    for value in bad:
        with pytest.raises(BlackboardError, match=r"run\.k must hold"):
            board.set("k", value)


def test_a_nullable_key_can_be_emptied_again():
    board = typed(signal=Key(dict, nullable=True))
    board.set("signal", {"type": "stuck"})
    board.set("signal", None)
    assert board.get("signal") is None


def test_a_key_starts_with_its_default_or_with_nothing():
    board = typed(turn=Key(int, 7), answer=Key(str))
    assert (board.get("turn"), board.get("answer")) == (7, None)


@pytest.mark.parametrize("verb", ["get", "set"])
def test_an_undeclared_key_is_an_error_with_a_suggestion(verb):
    board = typed(turns=int)
    with pytest.raises(BlackboardError, match=r"no key 'turn' .* did you mean 'turns'\?"):
        board.get("turn") if verb == "get" else board.set("turn", 1)


def test_without_a_schema_a_board_is_open():
    board = TypedBlackboard(scope_name="test")
    assert (board.get("x"), board.get("x", 5)) == (None, 5)
    board.set("x", 1)
    assert board._data == {"x": 1}


def test_data_is_a_plain_dict_that_a_test_may_fill():
    board = TypedBlackboard(scope_name="test")
    board._data["turns_without_signal"] = 3
    assert board.get("turns_without_signal") == 3


def test_a_key_is_written_in_the_scope_that_declares_it():
    outer = typed(turn=int)
    inner = TypedBlackboard(scope_name="sub", parent=outer, schema={"local": Key(int)})
    inner.set("turn", 2)
    inner.set("local", 3)
    assert (outer.get("turn"), inner.get("turn")) == (2, 2)
    assert "local" in inner
    assert "local" not in outer


def test_the_inner_declaration_hides_the_outer():
    outer = typed(n=Key(int, 1))
    inner = TypedBlackboard(scope_name="sub", parent=outer, schema={"n": Key(int, 5)})
    inner.set("n", 6)
    assert (outer.get("n"), inner.get("n")) == (1, 6)


def test_an_open_scope_takes_what_no_scope_above_declares():
    outer = typed(turn=Key(int, 1))
    inner = TypedBlackboard(scope_name="sub", parent=outer)
    inner.set("turn", 2)
    inner.set("scratch", 9)
    assert outer.get("turn") == 2
    assert "scratch" not in outer


def test_ports_show_only_what_they_name():
    outer = typed(question=str, secret=str)
    outer.set("question", "why")
    inner = TypedBlackboard(scope_name="sub", parent=outer, schema={}, ports={"topic": "question"})
    inner.set("topic", "how")
    assert (inner.get("topic"), outer.get("question")) == ("how", "how")
    assert "secret" not in inner
    with pytest.raises(BlackboardError, match="no key 'secret'"):
        inner.get("secret")


def test_types_hold_through_a_port():
    outer = typed(n=int)
    inner = TypedBlackboard(scope_name="sub", parent=outer, schema={}, ports={"m": "n"})
    with pytest.raises(BlackboardError, match=r"run\.n must hold integer"):
        inner.set("m", "x")


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(min_size=1), json_values, max_size=6))
def test_what_is_json_shaped_survives_a_snapshot(values):
    board = TypedBlackboard()
    for key, value in values.items():
        board.set(key, value)
    other = TypedBlackboard()
    other.restore(json.loads(json.dumps(board.snapshot())))
    assert other._data == values


def test_a_snapshot_does_not_share_what_it_copies():
    board = TypedBlackboard()
    board.set("list", [1])
    board.snapshot()["list"].append(2)
    assert board.get("list") == [1]


@each_row("value", [[{1}], {"k": object()}, [float("nan")], [(1, 2)], {1: "x"}])
def test_a_snapshot_names_the_key_that_is_not_json_shaped(value):
    board = TypedBlackboard(scope_name="run")
    board.set("bad", value)
    with pytest.raises(BlackboardError, match=r"run\.bad"):
        board.snapshot()


def test_a_snapshot_names_a_value_that_contains_itself():
    board, loop = TypedBlackboard(scope_name="run"), []
    loop.append(loop)
    board.set("bad", loop)
    with pytest.raises(BlackboardError, match=r"run\.bad"):
        board.snapshot()


@pytest.mark.parametrize("snapshot", [{"turn": "three"}, {"tuna": 1}])
def test_a_snapshot_that_does_not_fit_changes_nothing(snapshot):
    board = typed(turn=int, other=int)
    board.set("turn", 2)
    with pytest.raises(BlackboardError):
        board.restore({"other": 1, **snapshot})
    assert board.snapshot() == {"turn": 2}


def test_accesses_are_reported_from_every_scope_below():
    seen = []
    outer = typed(n=Key(int, 0))
    outer.observe(lambda *access: seen.append(access))
    inner = TypedBlackboard(scope_name="sub", parent=outer, schema={})
    inner.set("n", inner.get("n") + 1)
    assert seen == [("read", "sub", "n"), ("write", "sub", "n")]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("integer", Key(int)),
        ("string?", Key(str, nullable=True)),
        ("number", Key(float)),
        ("any", Key(object)),
    ],
)
def test_types_as_trees_write_them(name, key):
    assert key_from_name(name) == key


@each_row("name", ["int", "integer??", "", "table", "strnig"])
def test_an_unknown_type_is_refused(name):
    with pytest.raises(BlackboardError, match="no type"):
        key_from_name(name)


def test_a_default_must_fit_its_type():
    with pytest.raises(BlackboardError, match="the default must hold integer, not str: 'x'"):
        key_from_name("integer", "x")


def test_a_python_type_that_json_lacks_is_refused():
    with pytest.raises(BlackboardError, match="is not a type of a key"):
        Key(set)


def test_a_careless_leaf_does_not_spoil_a_default_for_other_runs():
    schema = {"log": Key(list, [])}
    TypedBlackboard(schema=schema).get("log").append("oops")
    assert TypedBlackboard(schema=schema).get("log") == []
