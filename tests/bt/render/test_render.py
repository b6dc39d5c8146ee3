"""A tree in each of the four formats."""

import json
from xml.etree import ElementTree

import pytest

from oracle.bt.core.definition import TreeDefinition
from oracle.bt.core.node import Composite, Node
from oracle.bt.lua.expressions import Expression
from oracle.bt.nodes import (
    Action,
    AlwaysFail,
    AlwaysSucceed,
    Condition,
    Cooldown,
    Exit,
    Guard,
    Invert,
    Loop,
    Once,
    Parallel,
    ReactiveSelector,
    ReactiveSequence,
    Repeat,
    Retry,
    Selector,
    Sequence,
    Subtree,
    Timeout,
)
from oracle.bt.render import FORMATS
from oracle.bt.state.base import SUCCESS
from oracle.bt.state.schema import Key
from tests.asking import agent_tree


def work(ctx):
    return SUCCESS


def leaf(name=None):
    return Action(fn=work, name=name)


def small():
    return TreeDefinition(
        "small",
        Sequence(
            Condition(fn=Expression('bb.n > 1 and bb.s ~= "<x>"'), name="big"),
            Retry(leaf("ask"), attempts=3),
            name="main",
        ),
        finish=leaf("bye"),
        schema={"n": Key(int), "s": Key(str)},
        description="A small one",
    )


def every_kind():
    return TreeDefinition(
        "all",
        Parallel(
            Selector(leaf(), AlwaysFail(leaf()), AlwaysSucceed(leaf())),
            ReactiveSequence(Condition(fn=Expression("true")), Timeout(leaf(), seconds=1.5)),
            ReactiveSelector(Invert(leaf()), Once(leaf())),
            Loop(Sequence(Repeat(leaf(), times=2), Exit(loop="l")), max=4, name="l"),
            Guard(Cooldown(leaf(), seconds=2), fn=Expression("bb.x == nil")),
            Retry(Subtree(leaf("inner"), tree="sub", ports={"a": "b"}), attempts=2),
            succeed=2,
            name="root",
        ),
    )


def test_ascii():
    assert FORMATS["ascii"](small()) == (
        "small: A small one\n"
        "|-- main [sequence]\n"
        '|   |-- big [condition] bb.n > 1 and bb.s ~= "<x>"\n'
        "|   `-- [retry] attempts=3\n"
        "|       `-- ask [action] work\n"
        "`-- bye [action] work\n"
    )


def test_ascii_is_ascii():
    assert FORMATS["ascii"](every_kind()).isascii()


def test_mermaid():
    assert FORMATS["mermaid"](small()) == (
        "flowchart TD\n"
        '  n0[/"→ main"/]\n'
        '  n1(["big"])\n'
        "  n0 --> n1\n"
        '  n2{{"retry"}}\n'
        '  n3["ask"]\n'
        "  n2 --> n3\n"
        "  n0 --> n2\n"
        '  n4["bye"]\n'
    )


def test_mermaid_escapes_what_would_mean_something_to_it():
    tree = TreeDefinition("t", Condition(fn=Expression('bb.s == "<a&b>" and #bb.s > 1')))
    line = FORMATS["mermaid"](tree).splitlines()[1]
    assert line == '  n0(["bb.s == #34;#60;a#38;b#62;#34; and #35;bb.s #62; 1"])'


def test_json_has_every_node_with_its_id():
    described = json.loads(FORMATS["json"](small()))
    assert described["blackboard"] == ["n", "s"]
    assert described["finish"] == {
        "id": "bye",
        "kind": "action",
        "name": "bye",
        "options": {"fn": "work"},
    }
    assert described["root"]["children"][1] == {
        "id": "main/retry#1",
        "kind": "retry",
        "options": {"attempts": 3},
        "children": [
            {"id": "main/retry#1/ask", "kind": "action", "name": "ask", "options": {"fn": "work"}}
        ],
    }


@pytest.fixture
def groot():
    return ElementTree.fromstring(FORMATS["groot"](every_kind()))


def test_groot_names_the_format_and_the_main_tree(groot):
    assert groot.tag == "root"
    assert groot.attrib == {"BTCPP_format": "4", "main_tree_to_execute": "all"}
    assert [tree.get("ID") for tree in groot.iter("BehaviorTree")] == ["all", "sub"]


@pytest.mark.parametrize(
    ("tag", "attributes"),
    [
        ("Parallel", {"name": "root", "success_count": "2", "failure_count": "5"}),
        ("Fallback", {}),
        ("ReactiveSequence", {}),
        ("ReactiveFallback", {}),
        ("ForceSuccess", {}),
        ("ForceFailure", {}),
        ("Inverter", {}),
        ("RetryUntilSuccessful", {"num_attempts": "2"}),
        ("Repeat", {"num_cycles": "2"}),
        ("Timeout", {"msec": "1500"}),
        ("RunOnce", {"then_skip": "true"}),
        ("SubTree", {"ID": "sub", "name": "sub", "a": "{b}"}),
    ],
)
def test_groot_uses_the_names_of_behaviortree_cpp(groot, tag, attributes):
    assert groot.find(f".//BehaviorTree//{tag}").attrib == attributes


def test_groot_lists_what_behaviortree_cpp_does_not_know(groot):
    model = {(node.tag, node.get("ID")) for node in groot.find("TreeNodesModel")}
    assert model == {
        ("Action", "work"),
        ("Action", "exit"),
        ("Condition", "true"),
        ("Decorator", "loop"),
        ("Decorator", "guard"),
        ("Decorator", "cooldown"),
    }


def test_every_id_in_the_model_stands_in_a_tree_and_the_other_way_round(groot):
    used = {
        (node.tag, node.get("ID"))
        for tree in groot.iter("BehaviorTree")
        for node in tree.iter()
        if node.tag in ("Action", "Condition", "Decorator", "Control")
    }
    assert used == {(node.tag, node.get("ID")) for node in groot.find("TreeNodesModel")}


def test_a_kind_that_was_added_later_is_drawn_too():
    class Shuffle(Composite, kind="shuffle"):
        pass

    tree = TreeDefinition("t", Shuffle(leaf("a"), leaf("b"), name="s"))
    assert all(FORMATS[name](tree) for name in FORMATS)
    assert ElementTree.fromstring(FORMATS["groot"](tree)).find(".//Control").get("ID") == "shuffle"
    del Node.kinds["shuffle"]


@pytest.mark.parametrize("format_", FORMATS)
def test_the_trees_of_the_agent_can_be_drawn(format_):
    assert FORMATS[format_](agent_tree())


def test_groot_names_the_key_of_a_limit_that_a_run_decides():
    assert 'msec="{seconds_left}"' in FORMATS["groot"](agent_tree())
