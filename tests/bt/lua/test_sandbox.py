"""The sandbox, as an attacker would try it. Each attempt ends in an error within a second."""

import pytest

from oracle.bt.lua.sandbox import Call, Table, run_tree_file
from oracle.errors import TreeFileError
from tests.timing import within

ATTACKS = {
    "endless while": "while true do end",
    "endless goto": "::again:: goto again",
    "endless repeat": "repeat until false",
    "endless for": "for i = 1, 1e300 do end",
    "endless tail call": "local function f() return f() end f()",
    "endless recursion": "local function f() return 1 + f() end f()",
    "endless iterator": "local function f() return 1 end for x in f do end",
    "doubling string": "local s = 'x' while true do s = s .. s end",
    "growing table": "local t = {} for i = 1, 1e9 do t[i] = {} end",
    "many long strings": "local t = {} for i = 1, 1e6 do t[i] = 'xxxxxxxxxxxx' .. i end",
    "copying a long string": (
        "local s = 'x' for i = 1, 21 do s = s .. s end while true do local t = s .. 'y' end"
    ),
    "comparing long strings": (
        "local s = 'x' for i = 1, 21 do s = s .. s end local t = s .. 'y' "
        "while true do local b = t < s end"
    ),
    "a long string, many times": (
        "local s = 'x' for i = 1, 20 do s = s .. s end local t = {} "
        "for i = 1, 3000 do t[i] = s end BT.tree('x', { root = BT.action('a', { args = t }) })"
    ),
    "string method": "('x'):rep(1e9)",
    "string library by literal": "local r = ('').rep",
    "os": "os.execute('true')",
    "io": "io.open('/etc/passwd')",
    "require": "require('os')",
    "package": "package.loaded.os.exit()",
    "debug": "debug.getregistry()",
    "load": "load('return 1')()",
    "loadstring": "loadstring('return 1')()",
    "dofile": "dofile('/etc/passwd')",
    "pcall": "pcall(function() while true do end end)",
    "coroutine": "coroutine.wrap(function() while true do end end)()",
    "python": "python.builtins.open('/etc/passwd')",
    "python eval": "python.eval('1')",
    "globals": "_G.os.exit()",
    "environment": "_ENV.os.exit()",
    "new environment": "local _ENV = { BT = BT } os.exit()",
    "getmetatable": "getmetatable('').__index = nil",
    "setmetatable": "setmetatable({}, {})",
    "rawget": "rawget(BT, 'x')",
    "collectgarbage": "collectgarbage('stop')",
    "print": "print('hello')",
    "changing BT": "BT.sequence = nil",
    "python attribute of a node": "local x = BT.action('a').__class__.__init__",
    "calling a node": "BT.action('a', {})()",
    "binary chunk": "\x1bLua\x54\x00",
    "half a program": "BT.tree('x', {",
    "deep nesting": "return " + "{" * 5000 + "}" * 5000,
    "deep parentheses": "return " + "(" * 5000 + "1" + ")" * 5000,
    "table in itself": "local t = {} t.t = t BT.tree(t)",
    "node in itself": "local t = {} local n = BT.sequence(t) t[1] = n BT.tree('x', { root = n })",
    "exponential sharing": (
        "local a = BT.action('x') "
        "for i = 1, 60 do a = BT.sequence({ a, a }) end "
        "BT.tree('x', { root = a })"
    ),
    "function as a value": "BT.tree('x', { root = function() end })",
    "bytes that are no text": "BT.tree('\\xff\\xfe', {})",
    "a key that is a table": "BT.tree('x', { [{}] = 1 })",
    "a key that is a float": "BT.tree('x', { [1.5] = 1 })",
    "a key that is a boolean": "BT.tree('x', { [true] = 1 })",
    "a list with a hole": "BT.tree('x', { 1, nil, 3 })",
    "a list from far away": "BT.tree('x', { [1e15 // 1 | 0] = 1 })",
    "a kind that is no name": "BT.tree(BT[1]('x'))",
    "to be closed": "local x <close> = BT.action('x')",
}


@pytest.mark.parametrize("source", ATTACKS.values(), ids=ATTACKS)
def test_every_attack_ends_in_an_error_within_a_second(source):
    with within(1), pytest.raises(TreeFileError) as error:
        run_tree_file(source, "evil.lua")
    assert str(error.value).startswith("evil.lua")
    assert "stack traceback" not in str(error.value)
    # It leaves nothing behind that an honest file would meet.
    assert run_tree_file("BT.tree('x', {})", "good.lua") == [Call("tree", 1, ("x", Table()))]


def test_a_file_that_reaches_for_more_is_told_that_there_is_only_bt():
    with pytest.raises(TreeFileError) as error:
        run_tree_file("\nprint('x')", "t.lua")
    assert str(error.value) == (
        "t.lua:2: attempt to call a nil value (global 'print'); a tree file sees nothing but BT"
    )


def test_calls_come_back_as_data_with_their_lines():
    source = """BT.tree("one", {
      root = BT.sequence("s", {
        BT.action("a", { fn = "f" }),
        BT.invert(BT.condition("c")),
      }),
    })
    return BT.tree("two", { root = BT.action("x") })
    """
    one, two = run_tree_file(source, "t.lua")
    action = Call("action", 3, ("a", Table((), {"fn": "f"})))
    invert = Call("invert", 4, (Call("condition", 4, ("c",)),))
    assert one == Call(
        "tree", 1, ("one", Table((), {"root": Call("sequence", 2, ("s", Table((action, invert))))}))
    )
    assert (two.kind, two.line) == ("tree", 7)


def test_a_field_may_have_any_name():
    (tree,) = run_tree_file("BT.tree('t', { call = 'x', line = 'y', count = 'z' })", "t.lua")
    assert tree.arguments[1].fields == {"call": "x", "line": "y", "count": "z"}


def test_a_long_path_keeps_its_line():
    file = "folder/" * 20 + "tree.lua"
    with pytest.raises(TreeFileError) as error:
        run_tree_file("\n\nx = = 1", file)
    assert str(error.value) == f"{file}:3: unexpected symbol near '='"


def test_lua_may_compute_what_it_declares():
    source = """
    local attempts = 2 * 3
    local function ask(name) return BT.action(name, { tries = attempts }) end
    BT.tree("t", { root = BT.sequence({ ask("a"), ask("b") }) })
    """
    (tree,) = run_tree_file(source, "t.lua")
    children = tree.arguments[1].fields["root"].arguments[0].items
    assert [child.arguments[1].fields["tries"] for child in children] == [6, 6]


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("\n\nx = = 1", "t.lua:3: unexpected symbol near '='"),
        ("\nlocal x = nil + 1", "t.lua:2: attempt to perform arithmetic on a nil value"),
    ],
)
def test_lua_errors_keep_their_place(source, place):
    with pytest.raises(TreeFileError) as error:
        run_tree_file(source, "t.lua")
    assert str(error.value) == place
