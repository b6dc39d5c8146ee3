"""Node ids, checks of a whole tree, and other nodes in the place of some."""

import pytest

from oracle.bt.core.definition import TreeDefinition
from oracle.bt.core.leaves import LeafRegistry
from oracle.bt.core.runtime import TreeRun
from oracle.bt.nodes import Action, Exit, Invert, Loop, Retry, Selector, Sequence, Subtree
from oracle.bt.state.base import FAILURE, RUNNING, SUCCESS
from oracle.bt.state.schema import Key
from oracle.errors import StructureError
from oracle.testing import ScriptedNode
from tests.tables import each_row

S, F, R = SUCCESS, FAILURE, RUNNING


def node(name=None):
    return Action(fn=lambda ctx: S, name=name)


def test_a_nodes_id_is_its_path():
    tree = TreeDefinition(
        "t",
        Sequence(
            Sequence(node()), node("ask"), Selector(node()), Sequence(node(), node()), name="turn"
        ),
    )
    assert list(tree.by_path) == [
        "turn",
        "turn/sequence#1",
        "turn/sequence#1/action#1",
        "turn/ask",
        "turn/selector#1",
        "turn/selector#1/action#1",
        "turn/sequence#2",
        "turn/sequence#2/action#1",
        "turn/sequence#2/action#2",
    ]
    assert [n.index for n in tree] == list(range(len(tree)))


def test_siblings_of_one_name_are_refused():
    with pytest.raises(StructureError, match="two nodes have the path 's/a'"):
        TreeDefinition("t", Sequence(node("a"), node("a"), name="s"))


def test_root_and_finish_of_one_name_are_refused():
    with pytest.raises(StructureError, match="two nodes have the path 'a'"):
        TreeDefinition("t", node("a"), finish=node("a"))


@each_row("name", ["", "a/b", "a#1", "tab\tname", "ü", "-x"])
def test_a_name_that_could_be_mistaken_for_a_path_is_refused(name):
    with pytest.raises(StructureError, match="cannot be the name of a node"):
        TreeDefinition("t", node(name))


def test_a_node_stands_in_one_tree_only():
    shared = node("a")
    TreeDefinition("one", shared)
    with pytest.raises(StructureError, match="is in a tree already"):
        TreeDefinition("two", shared)


def test_an_unknown_path_is_an_error_with_a_suggestion():
    tree = TreeDefinition("t", Sequence(node("ask"), name="turn"))
    with pytest.raises(StructureError, match=r"no node 'turn/aks'; did you mean 'turn/ask'\?"):
        tree["turn/aks"]


def test_any_node_can_be_replaced_by_its_path():
    tree = TreeDefinition("t", Sequence(node(), Retry(node("ask"), attempts=2), node(), name="s"))
    played = ScriptedNode(F, S)
    other = tree.with_nodes({"s/retry#1/ask": played, "s/action#1": ScriptedNode(S)})
    assert list(other.by_path) == list(tree.by_path)
    run = TreeRun(other)
    assert [run.tick(), run.tick()] == [R, S]
    played.check_played_out()
    assert TreeRun(tree).tick() is S


def test_a_whole_branch_can_be_replaced():
    tree = TreeDefinition(
        "t", Sequence(Sequence(node("a"), node("b"), name="gather"), node("c"), name="s")
    )
    other = tree.with_nodes({"s/gather": ScriptedNode(F)})
    assert list(other.by_path) == ["s", "s/gather", "s/c"]
    assert TreeRun(other).tick() is F


def test_a_rebuilt_tree_leaves_its_own_loop_not_the_first_ones():
    tree = TreeDefinition("t", Loop(Sequence(node("a"), Exit(loop="l")), max=3, name="l"))
    other = tree.with_nodes({"l/sequence#1/a": ScriptedNode(S)})
    assert TreeRun(other).tick() is S


def test_replacing_what_is_not_there_is_an_error():
    with pytest.raises(StructureError, match="no node 'b'"):
        TreeDefinition("t", node("a")).with_nodes({"b": ScriptedNode()})


registry = LeafRegistry()


@registry.action(reads=["question"], writes=["answer"])
def reply(ctx):
    return S


@each_row(
    ("root", "complaint"),
    [
        (
            lambda: Action(fn=reply, name="r"),
            "'invert#1/r' uses the key 'answer', which is not declared",
        ),
        (lambda: Subtree(Action(fn=reply, name="r"), tree="i", schema={"answer": Key()}), None),
        (
            lambda: Subtree(Action(fn=reply, name="r"), tree="i", ports={"question": "question"}),
            "'invert#1/i/r' uses the key 'answer'",
        ),
        (
            lambda: Subtree(
                Action(fn=reply), tree="i", ports={"question": "question", "answer": "anwser"}
            ),
            "'invert#1/i' uses the key 'anwser'",
        ),
        (
            lambda: Subtree(
                Action(fn=reply), tree="i", ports={"question": "question", "answer": "question"}
            ),
            None,
        ),
    ],
)
def test_keys_are_checked_where_a_leaf_stands(root, complaint):
    schema = {"question": Key(str)}
    if complaint is None:
        TreeDefinition("t", Invert(root()), schema=schema)
    else:
        with pytest.raises(StructureError, match=complaint):
            TreeDefinition("t", Invert(root()), schema=schema)


def test_without_a_schema_no_key_is_checked():
    TreeDefinition("t", Action(fn=reply))
