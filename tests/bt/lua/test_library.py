# ruff: noqa: E501 - a row of a table is a line
"""Loading tree files: what is built, what is refused and where, and reloading."""

import asyncio
import logging

import pytest

from oracle.bt.core.leaves import LeafRegistry
from oracle.bt.core.runtime import TreeRun
from oracle.bt.lua.library import TreeLibrary
from oracle.bt.state.base import FAILURE, RUNNING, SUCCESS
from oracle.errors import InputError, TreeFileError

leaves = LeafRegistry()


@leaves.action(reads=["turn"], writes=["turn"])
def next_turn(ctx, step=1):
    ctx.blackboard.set("turn", ctx.blackboard.get("turn") + step)
    return SUCCESS


@leaves.action()
def needs_a_path(ctx, path):
    return SUCCESS


@leaves.condition()
async def later(ctx, after=1):
    return True


@leaves.condition(reads=["turn"])
def late(ctx, after=3):
    return ctx.blackboard.get("turn") > after


PREFIX = f"{__name__}."
NEXT_TURN, LATE = PREFIX + "next_turn", PREFIX + "late"

GOOD = f"""
BT.tree("agent", {{
  description = "Counts turns",
  blackboard = {{ turn = {{ type = "integer", default = 0 }} }},
  root = BT.loop("turns", {{
    max = 9,
    BT.sequence("turn", {{
      BT.action("next", {{ fn = "{NEXT_TURN}", args = {{ step = 2 }} }}),
      BT.always_succeed(BT.sequence({{
        BT.condition("late", {{ fn = "{LATE}" }}),
        BT.guard("really", {{ expression = "bb.turn > 5", BT.exit("turns") }}),
      }})),
    }}),
  }}),
}})
"""


@pytest.fixture
def load(tmp_path):
    def write_and_load(source, name="agent.lua"):
        path = tmp_path / name
        path.write_text(source)
        return TreeLibrary([path], leaves=leaves)

    return write_and_load


def complaint(load, source):
    with pytest.raises(TreeFileError) as error:
        load(source)
    return str(error.value).rpartition("agent.lua:")[2]


async def test_a_tree_is_built_and_runs_as_it_is_written(load):
    tree = load(GOOD)["agent"]
    assert list(tree.by_path) == [
        "turns",
        "turns/turn",
        "turns/turn/next",
        "turns/turn/always_succeed#1",
        "turns/turn/always_succeed#1/sequence#1",
        "turns/turn/always_succeed#1/sequence#1/late",
        "turns/turn/always_succeed#1/sequence#1/really",
        "turns/turn/always_succeed#1/sequence#1/really/exit#1",
    ]
    run = TreeRun(tree)
    assert (await run.settle()).status is SUCCESS
    assert run.context.blackboard.get("turn") == 6


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("BT.sequence(\"turn\"", "BT.sequnce(\"turn\"", "7: no node 'sequnce'; did you mean 'sequence'?"),
        ("BT.loop", "BT.zzz", "5: no node 'zzz'"),
        ("max = 9", "mx = 9", "5: loop has no option 'mx'; did you mean 'max'?"),
        ("max = 9,", "", "5: loop needs the option 'max'"),
        ("max = 9", "max = '9'", "5: loop: max must be a whole number, not '9'"),
        ("max = 9", "max = true", "5: loop: max must be a whole number, not True"),
        ("max = 9", "max = 2.5", "5: loop: max must be a whole number, not 2.5"),
        ("max = 9", "max = 0", "5: loop: max is 0; use 1 or more"),
        ("max = 9", "name = 'x', max = 9", "5: 'name' is given twice"),
        ("next_turn", "next_trun", f"8: no leaf '{PREFIX}next_trun' is registered; did you mean '{NEXT_TURN}'?"),
        (NEXT_TURN, "os.system", "8: no leaf 'os.system' is registered; decorate it with @action or @condition, and import its module (--leaves)"),
        (NEXT_TURN, "elsewhere.next_turn", f"8: no leaf 'elsewhere.next_turn' is registered; did you mean '{NEXT_TURN}'?"),
        (NEXT_TURN, LATE, f"8: '{LATE}' is registered as condition, not as action"),
        ("step = 2", "stp = 2", f"8: '{NEXT_TURN}': got an unexpected keyword argument 'stp'"),
        ("{ step = 2 }", "3", "8: args must be a table of names and values"),
        ("turn = {", "trun = {", "8: 'turns/turn/next' uses the key 'turn', which is not declared; did you mean 'trun'?"),
        ("bb.turn > 5", "bb.trun > 5", "11: 'turns/turn/always_succeed#1/sequence#1/really' uses the key 'trun', which is not declared; did you mean 'turn'?"),
        ("bb.turn > 5", "bb.turn >", "11: expression 'bb.turn >': it ends too early"),
        ("expression =", "fn = 'x', expression =", "11: guard takes either fn or expression, as a string"),
        ("expression = \"bb.turn > 5\", ", "", "11: guard takes either fn or expression, as a string"),
        (f"fn = \"{LATE}\"", "fn = 3", "10: condition takes either fn or expression, as a string"),
        (f"fn = \"{NEXT_TURN}\"", "expression = 'true'", "8: action takes fn, as a string"),
        ("BT.exit(\"turns\")", "BT.exit(\"turn\")", "11: exit leaves the loop 'turn', but no loop of that name is around it; did you mean 'turns'?"),
        ("BT.exit(\"turns\")", "", "11: guard takes 1 child, not 0"),
        ("BT.exit(\"turns\")", "BT.exit(\"turns\"), BT.exit(\"turns\")", "11: guard takes 1 child, not 2"),
        ("BT.exit(\"turns\")", "'exit'", "11: a child of BT.guard is 'exit'; use BT.… nodes"),
        ("BT.exit(\"turns\")", "{}", "11: a child of BT.guard is a table; use BT.… nodes"),
        ("BT.exit(\"turns\")", "child = BT.exit(\"turns\")", "11: 'child' holds a node; put it into the list without a name"),
        ("\"late\"", "\"a/b\"", "10: 'a/b' cannot be the name of a node; use letters, digits, spaces, '-', '_' and '.'"),
        ("\"next\"", "\"next\", 3", "8: BT.action takes a name and one table; put the children into { … }"),
        ("root = ", "rot = ", "2: a tree has no 'rot'; did you mean 'root'?"),
        ("root = BT", "root = 3, finish = BT", "2: root must be a node, such as BT.sequence({ … })"),
        ("\"Counts turns\"", "3", "2: description must be a string"),
        ("\"integer\"", "\"int\"", "2: key 'turn': no type 'int'; did you mean 'integer'?"),
        ("default = 0", "default = 'x'", "2: key 'turn': the default must hold integer, not str: 'x'"),
        ("default = 0", "defualt = 0", "2: key 'turn': write \"integer\", 0 or { type = \"integer\", default = 0 }"),
        ("blackboard = {", "blackboard = { 1,", "2: blackboard must be a table such as { turn = \"integer\" }"),
        ("BT.tree(\"agent\"", "BT.tree(7", "2: a tree is BT.tree(name, { root = … })"),
        ("BT.action(\"next\"", "BT.subtree(\"next\"", "8: no tree 'next'"),
        (f"fn = \"{NEXT_TURN}\", args = {{ step = 2 }}", f"fn = \"{PREFIX}needs_a_path\"", f"8: '{PREFIX}needs_a_path': missing a required argument: 'path'"),
        (f"fn = \"{LATE}\"", f"fn = \"{PREFIX}later\", args = {{ after = 2 }}", f"10: condition: {PREFIX}later is async; a test must return at once"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_line_and_what_was_meant(load, old, new, expected):
    assert old in GOOD
    assert complaint(load, GOOD.replace(old, new, 1)) == expected


def test_a_number_or_a_truth_value_declares_a_key_with_its_default(load):
    source = """BT.tree("t", {
      blackboard = { turn = 3, share = 0.5, done = false },
      root = BT.condition("c", { expression = "bb.turn == 3 and bb.share < 1 and not bb.done" }),
    })"""
    tree = load(source)["t"]
    assert {name: key.type for name, key in tree.schema.items()} == {
        "turn": int,
        "share": float,
        "done": bool,
    }
    assert TreeRun(tree).tick() is SUCCESS


def test_an_option_that_is_unlike_any_other_is_told_which_there_are(load):
    told = complaint(load, GOOD.replace("max = 9", "max = 9, zzz = 1"))
    assert told == "5: loop has no option 'zzz'; it has description, max, name"


def test_a_file_without_a_tree_says_what_to_write(load):
    assert "no tree is declared; write BT.tree(name, { root = … })" in complaint(
        load, "local x = 1"
    )


SUBTREES = """
BT.tree("main", {
  blackboard = { n = { type = "integer", default = 1 } },
  root = BT.sequence("s", {
    BT.subtree("shared"),
    BT.subtree("shared", { name = "again" }),
    BT.subtree("isolated", { ports = { m = "n" } }),
  }),
})
BT.tree("shared", { root = BT.condition("c", { expression = "bb.n == 1" }) })
BT.tree("isolated", {
  blackboard = { own = { type = "integer", default = 2 } },
  root = BT.condition("c", { expression = "bb.m < bb.own" }),
})
"""


async def test_subtrees_are_put_in_place_each_with_nodes_of_its_own(load):
    library = load(SUBTREES)
    tree = library["main"]
    assert list(tree.by_path) == [
        "s",
        "s/shared",
        "s/shared/c",
        "s/again",
        "s/again/c",
        "s/isolated",
        "s/isolated/c",
    ]
    assert (await TreeRun(tree).settle()).status is SUCCESS
    assert list(library) == ["main", "shared", "isolated"]


def test_a_tree_keeps_its_keys_when_another_uses_it_as_a_subtree(load):
    source = """
    BT.tree("tea", {
      blackboard = { degrees = { type = "integer", default = 20 } },
      root = BT.condition("warm", { expression = "bb.degrees > 1" }),
    })
    BT.tree("party", { root = BT.subtree("tea") })
    """
    assert TreeRun(load(source)["tea"]).tick() is SUCCESS


async def test_a_subtree_may_leave_the_loop_that_it_stands_in(load):
    source = """
    BT.tree("outer", { root = BT.loop("l", { max = 2, BT.subtree("inner") }) })
    BT.tree("inner", { root = BT.exit("l") })
    """
    library = load(source)
    assert list(library.definitions) == ["outer"]
    assert (await TreeRun(library["outer"]).settle()).status is SUCCESS


def test_a_subtree_can_be_had_by_itself_although_it_relies_on_others_keys(load):
    assert len(load(SUBTREES)["shared"]) == 1


def test_trees_of_several_files_know_each_other(tmp_path):
    main, _, rest = SUBTREES.partition('BT.tree("shared"')
    (tmp_path / "main.lua").write_text(main)
    (tmp_path / "rest.lua").write_text('BT.tree("shared"' + rest)
    assert len(TreeLibrary([tmp_path], leaves=leaves)["main"]) == 7


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            'BT.tree("a", { root = BT.subtree("b") })\nBT.tree("b", { root = BT.subtree("a") })',
            "2: subtrees in a circle: a → b → a",
        ),
        ('BT.tree("a", { root = BT.subtree("a") })', "1: subtrees in a circle: a → a"),
        ('BT.tree("a", { root = BT.subtree("bb") })\nBT.tree("b", { root = BT.subtree("b") })', "1: no tree 'bb'"),
        (
            SUBTREES.replace('{ ports = { m = "n" } }', '{ ports = { m = "x" } }'),
            "7: 's/isolated' uses the key 'x', which is not declared",
        ),
        (
            SUBTREES.replace("bb.m <", "bb.n <"),
            "13: 's/isolated/c' uses the key 'n', which is not declared",
        ),
        (SUBTREES.replace("bb.n ==", "bb.k =="), "10: 's/shared/c' uses the key 'k', which is not declared"),
        (SUBTREES.replace(', { name = "again" }', ""), "6: two nodes have the path 's/shared'; rename one of them"),
        (
            SUBTREES + 'BT.tree("main", { root = BT.subtree("shared") })',
            "15: tree 'main' is in",
        ),
        (
            'BT.tree("a", { root = BT.subtree("b") })\n'
            'BT.tree("b", { root = BT.exit("x"), finish = BT.exit("x") })',
            "1: 'b' has a finish branch, so it cannot be a subtree",
        ),
        (
            SUBTREES.replace('{ m = "n" }', "{ m = 3 }"),
            '7: ports must be a table of names, such as { inner = "outer" }',
        ),
        (
            "".join(
                f'BT.tree("t{n}", {{ root = BT.sequence({{ BT.subtree("t{n + 1}"), '
                f'BT.subtree("t{n + 1}", {{ name = "b" }}) }}) }})\n'
                for n in range(16)
            )
            + 'BT.tree("t16", { root = BT.condition({ expression = "true" }) })',
            "13: more than 10000 nodes or 100 levels, with all subtrees",
        ),
        (
            SUBTREES.replace('"again"', '"again", schema = {}'),
            "6: a subtree's keys are declared where the tree is",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_together_is_refused_with_its_line(load, source, expected):
    with pytest.raises(TreeFileError) as error:
        load(source)
    assert f"agent.lua:{expected}" in str(error.value)


def test_an_unknown_tree_is_an_error_with_a_suggestion(load):
    with pytest.raises(InputError, match=r"no tree 'agnet'; did you mean 'agent'\?"):
        load(GOOD)["agnet"]


@pytest.mark.parametrize(
    ("prepare", "expected"),
    [
        (lambda path: None, "No such file or directory; check"),
        (lambda path: path.write_bytes(b"BT.tree('\xff')"), "is not UTF-8"),
        (lambda path: path.write_text("-" * (128 * 1024 + 1)), "over 128 KiB; split it"),
        (lambda path: path.mkdir(), "no .lua file in this folder"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path, prepare, expected):
    path = tmp_path / "t.lua"
    prepare(path)
    with pytest.raises(InputError, match=expected) as error:
        TreeLibrary([path])
    assert "t.lua" in str(error.value)


def test_reload_gives_the_next_run_the_new_tree_and_tells_what_changed(load, caplog):
    library = load(GOOD)
    before = library["agent"]
    changed = GOOD.replace("max = 9", "max = 5").replace('"late"', '"too late"')
    library.paths[0].write_text(changed)
    with caplog.at_level(logging.INFO):
        changes = library.reload()
    place = "turns/turn/always_succeed#1/sequence#1"
    assert changes == [
        f"agent: - {place}/late (condition)",
        "agent: ~ turns: max 9 → 5",
        f"agent: + {place}/too late (condition)",
    ]
    assert changes[0] in caplog.text
    assert library["agent"] is not before
    assert before["turns"].max == 9


def test_a_broken_file_is_reported_and_the_last_good_tree_stays(load, caplog):
    library = load(GOOD)
    before = library["agent"]
    library.paths[0].write_text(GOOD.replace("BT.loop", "BT.lop"))
    assert library.reload() == []
    assert library["agent"] is before
    assert "the last good ones are kept" in caplog.text
    assert "no node 'lop'" in caplog.text


PLACE = "turns/turn/always_succeed#1/sequence#1"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("BT.loop(", "BT.loop(", []),
        ("BT.selector", "BT.selector", []),
        ('"agent"', '"other"', ["agent: removed", "other: added"]),
        ("default = 0", "default = 1", ["agent: ~ the keys of the blackboard"]),
        (
            "bb.turn > 5",
            "bb.turn > 6",
            [f"agent: ~ {PLACE}/really: fn 'bb.turn > 5' → 'bb.turn > 6'"],
        ),
        (
            "step = 2",
            "step = 3",
            ["agent: ~ turns/turn/next: args {'step': 2} → {'step': 3}"],
        ),
        ('BT.sequence("turn"', 'BT.selector("turn"', ["agent: ~ turns/turn: sequence → selector"]),
    ],
)
def test_differences(load, old, new, expected):
    library = load(GOOD)
    library.paths[0].write_text(GOOD.replace(old, new))
    assert library.reload() == expected


def test_a_library_of_sources_has_nothing_to_reload():
    library = TreeLibrary(sources={"a.lua": GOOD}, leaves=leaves)
    assert library.reload() == []
    assert list(library) == ["agent"]


async def test_a_file_that_is_replaced_is_noticed_each_time(load):
    library, stop = load(GOOD), asyncio.Event()
    watching = library.watch(stop)
    change = asyncio.create_task(anext(watching))
    await asyncio.sleep(0)
    for number in (5, 6):
        replacement = library.paths[0].with_suffix(".new")
        replacement.write_text(GOOD.replace("max = 9", f"max = {number}"))
        replacement.replace(library.paths[0])
        (changed,) = await asyncio.wait_for(change, timeout=20)
        assert changed.endswith(f"→ {number}")
        change = asyncio.create_task(anext(watching, None))
    stop.set()
    assert await change is None


def test_a_run_that_has_begun_keeps_its_tree(load):
    library = load(GOOD)
    run = TreeRun(library["agent"])
    assert run.tick() is RUNNING
    library.paths[0].write_text(GOOD.replace("max = 9", "max = 1"))
    library.reload()
    assert run.tick() is RUNNING
    new_run = TreeRun(library["agent"])
    assert new_run.tick() is FAILURE


SHORT = f"""
local count = BT.leaves("{__name__}")
local HIGH = 3

BT.tree("agent", {{
  blackboard = {{
    counters = {{ turn = 0, rounds = {{ type = "integer", default = 0 }} }},
    note = "string?",
  }},
  root = BT.sequence("main", {{
    count.next_turn,
    count.next_turn("again", {{ step = 4 }}),
    BT.expect("turn is high", "bb.turn > " .. HIGH),
    BT.guard("late enough", {{ count.late {{ after = HIGH }}, count.next_turn("third") }}),
    BT.guard("has a note", {{ "bb.note ~= nil", count.next_turn("never") }}),
  }}),
}})
"""


async def test_leaves_are_named_by_their_module_once(load):
    tree = load(SHORT)["agent"]
    names = ["next turn", "again", "turn is high", "late enough", "has a note"]
    assert [child.name for child in tree.root.children] == names
    run = TreeRun(tree)
    assert (await run.settle()).status is SUCCESS
    assert run.context.blackboard.get("turn") == 6


def test_keys_may_be_declared_in_groups(load):
    schema = load(SHORT)["agent"].schema
    groups = {name: key.group for name, key in schema.items()}
    assert groups == {"turn": "counters", "rounds": "counters", "note": ""}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("    count.next_turn,", "    count.nxt_turn,", f"11: no leaf '{PREFIX}nxt_turn' is registered; did you mean '{PREFIX}next_turn'?"),
        ("{ step = 4 }", "{ stop = 4 }", f"12: '{PREFIX}next_turn': got an unexpected keyword argument 'stop'"),
        ("{ step = 4 }", "7", f"12: {PREFIX}next_turn takes a name and a table of arguments"),
        ('"bb.turn > " .. HIGH', "HIGH", '13: BT.expect takes two strings: ("name", "bb.turn > 3")'),
        ("count.late { after = HIGH }", 'count.next_turn("x")', f"14: '{PREFIX}next_turn' is registered as action, not as condition"),
        ("    count.next_turn,", "    BT.later('x'),", "11: no BT.deferred has the task 'x'; there are: none"),
        ("turn = 0, ", "turn = 0, note = 1, ", "5: key 'note' is declared twice"),
        ('note = "string?"', "note = { default = 3 }", "5: key 'note': write \"integer\", 0 or { type = \"integer\", default = 0 }"),
        (f'BT.leaves("{__name__}")', "BT.leaves(nil)", '2: BT.leaves takes the name of one module, such as "oracle.bt.actions.finish"'),
        ("    count.next_turn,", "    count[7],", f"11: a leaf of {__name__} is named by a string"),
        ('{ "bb.note ~= nil",', '{ expression = "true", "bb.note ~= nil",', "15: the test of this guard is given twice; keep one of them"),
        ("    count.next_turn,", "    BT.ladder('l', { restart = 3, count.next_turn }),", "11: restart must be an expression, such as \"bb.news\""),
        ("    count.next_turn,", "    BT.deferred('x', count.next_turn), BT.deferred('x', { name = 'y', count.next_turn }),", "11: the task 'x' has two BT.deferred; keep one"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_short_form_is_told_with_its_line(load, old, new, expected):
    assert old in SHORT
    assert complaint(load, SHORT.replace(old, new, 1)) == expected


def test_what_a_file_was_given_cannot_be_changed_by_it(load):
    changing = "local node = BT.sequence('x', {})\nnode.line = 'no number'\n"
    assert complaint(load, changing) == "2: what BT returns cannot be changed"


MISPLACED = """
BT.tree("part", { root = BT.sequence("part", { BT.later("x"), BT.exit("turns") }) })
BT.tree("whole", { root = BT.expect("fine", "true") })
"""


def test_a_tree_that_relies_on_others_and_is_used_nowhere_does_not_spoil_the_rest(load):
    library = load(MISPLACED)
    assert list(library.definitions) == ["whole"]
    assert "no loop of that name is around it" in str(library.misplaced["part"])


def test_where_no_tree_works_alone_the_reason_is_told(load):
    alone = MISPLACED.replace("whole", "other").replace('BT.expect("fine", "true")', 'BT.exit("x")')
    assert "exit leaves the loop 'turns'" in complaint(load, alone)


TYPED = LeafRegistry()


@TYPED.action()
def typed(ctx, count: int = 1, share: "float" = 0.5, name: str = "x", on: bool = True, **rest):
    return SUCCESS


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ('count = "key"', "count must be a whole number, not 'key'"),
        ("count = 1.5", "count must be a whole number, not 1.5"),
        ("count = true", "count must be a whole number, not True"),
        ('share = "half"', "share must be a number, not 'half'"),
        ("name = 3", "name must be a string, not 3"),
        ("on = 1", "on must be true or false, not 1"),
        ("share = 0/0", "is not a number that can be recorded"),
        ("share = 1/0", "is not a number that can be recorded"),
    ],
)
def test_arguments_of_a_leaf_are_checked_at_their_line(argument, says, tmp_path):
    file = tmp_path / "t.lua"
    leaf = f"{PREFIX}typed"
    file.write_text(
        f'BT.tree("t", {{\n\nroot = BT.action({{ fn = "{leaf}", args = {{ {argument} }} }}) }})'
    )
    with pytest.raises(TreeFileError, match=rf"t\.lua:3: .*{says}"):
        TreeLibrary([file], leaves=TYPED)


def test_arguments_of_the_right_type_are_taken(tmp_path):
    file = tmp_path / "t.lua"
    args = 'count = 2, share = 1, name = "n", on = false, more = { 1 }'
    file.write_text(
        f'BT.tree("t", {{ root = BT.action({{ fn = "{PREFIX}typed", args = {{ {args} }} }}) }})'
    )
    assert len(TreeLibrary([file], leaves=TYPED)) == 1


SECONDS = """
BT.tree("outer", {
  blackboard = { left = "number", name = "string" },
  root = BT.subtree("inner", { ports = { budget = "%s" } }),
})
BT.tree("inner", {
  root = BT.timeout({
    seconds = "budget", BT.condition("c", { expression = "true" }) }),
})
"""


def test_seconds_from_a_key_need_a_key_that_holds_a_number(tmp_path):
    file = tmp_path / "t.lua"
    file.write_text(SECONDS % "left")
    TreeLibrary([file])
    file.write_text(SECONDS % "name")
    with pytest.raises(
        TreeFileError, match=r"t\.lua:7: seconds names 'budget', which does not hold"
    ):
        TreeLibrary([file])


@pytest.mark.parametrize(
    "line",
    [
        "BT.sequence = 1",
        "BT[1] = BT",
        'local n = BT.exit("x"); n.kind = "tree"',
        'local n = BT.exit("x"); n[1] = n',
        'local m = BT.leaves("a.b"); m.c = 1',
        'local m = BT.leaves("a.b"); m.c.kind = 1',
        'local s = "x"; s.len = 1',
        '("x").y.z = 1',
        "getmetatable(BT).__index = nil",
        "setmetatable(BT, {})",
        "rawset(BT, 1, 2)",
        "BT()",
        "BT.x.y = 1",
        "local t = {}; t[t] = t; BT.tree('x', t)",
        "local t = {}; t.root = t; BT.tree('x', t)",
        "local a = {}; local n = BT.sequence(a); a[1] = n; BT.tree('x', { root = n })",
        "BT.tree(BT, BT)",
        "BT.tree('x', { root = BT })",
        "BT.tree('x', { root = BT.leaves('a') })",
        "for k in BT do end",
        "BT.tree('x', { root = BT.sequence({ [2^53] = BT.exit('x') }) })",
        "BT.tree('x', { root = BT[0/0]() })",
        "BT.tree('x', { root = BT['tree']('y', {}) })",
        "local t = { BT.exit('x') }; BT.tree('x', { root = BT.loop('x', { max = 1, BT.sequence(t) }) }); t[1] = nil; t.a = t",
    ],
)
def test_a_file_can_change_nothing_that_others_use_and_crash_nothing(line, tmp_path):
    file = tmp_path / "t.lua"
    good = 'BT.tree("good", { root = BT.condition("c", { expression = "true" }) })'
    file.write_text(f"{good}\n{line}\n")
    with pytest.raises(TreeFileError, match=r"t\.lua"):
        TreeLibrary([file])
    file.write_text(good)
    assert list(TreeLibrary([file])) == ["good"]
