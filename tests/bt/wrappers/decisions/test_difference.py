"""Each report names the node that decides differently, at its turn, and what follows from it."""

import pytest

from oracle.bt.render.mermaid import changed_as_mermaid
from oracle.bt.wrappers.decisions.change import BUILT_IN, Change, classifier_from
from oracle.bt.wrappers.decisions.difference import GONE, compared
from oracle.bt.wrappers.decisions.playing import played
from oracle.bt.wrappers.recipe import built_in_trees
from oracle.cli.terminal.diff_lines import diff_lines, shown_node
from oracle.errors import InputError
from tests.default_run import thinned
from tests.recorded_scenes import recording_of

# The scene, what is changed, and the first difference: turn, node, recorded and now.
TABLE = [
    ("unbelieved", "decide.DOUBTS=0", 1, "not doubted before", "success", "failure"),
    ("insists", "decide.DOUBTS=2", 2, "not doubted before", "failure", "success"),
    ("unbelieved", "limits.turns=2", 2, "only the reserve is left", "skipped", "success"),
    ("5 turns", "limits.turns=7", 5, "most of a budget is spent", "success", "skipped"),
    ("silence", "escalate.SILENT_TURNS=2", 2, "no signal for n turns", "failure", "success"),
    ("malformed", "decide.MALFORMED=0", 2, "first of its kind", "success", "failure"),
    ("tools fail", "work.FAILURES=1", 1, "calls have failed", "skipped", "success"),
    ("a broad question", "coverage.BROAD=0.99", 0, "is broad", "success", "failure"),
    ("the same reason", "turn.SAME_REASON=2", 2, "need turn repeats its reason", "failure",
     "success"),
    ("delegation", "decide.DELEGATIONS=0", 1, "first wish to delegate", "success", "failure"),
    ("stuck", "turn.IDLE_TURNS=1", 2, "turns are idle", "failure", "success"),
    ("allowed", "can_ask=false", 1, "no person is there", "failure", "success"),
    ("tokens", "limits.tokens=9000000", None, None, None, None),
    ("the model dies", "limits.turns=1", 0, "there is only one turn", "skipped", "success"),
]  # fmt: skip


async def diff_of(scene, change):
    recording = await recording_of(scene)
    return compared(recording, await played(recording, change))


def told(diff):
    return "\n".join(line.text for line in diff_lines(diff, None))


@pytest.mark.parametrize(
    ("scene", "setting", "turn", "node", "before", "now"),
    thinned([pytest.param(*row, id=f"{row[0]}, {row[1]}") for row in TABLE], 2),
)
async def test_the_first_node_that_decides_differently_is_named(
    scene, setting, turn, node, before, now
):
    diff = await diff_of(scene, Change(settings=[setting]))
    if node is None:
        assert diff.turns, "a higher limit of tokens lets this run go on"
        return
    first = diff.turns[0]
    assert (first.turn, first.node.rpartition("/")[2]) == (turn, node)
    assert (first.before, first.now) == (before, now)
    assert not diff.is_same
    assert shown_node(first.node) in told(diff)


@pytest.mark.parametrize(
    ("scene", "setting"),
    thinned([pytest.param(*row[:2], id=f"{row[0]}, {row[1]}") for row in TABLE], 2),
)
async def test_what_a_replay_predicts_is_what_the_changed_run_really_does(scene, setting):
    """A scripted model says the same whatever it is asked, so what is assumed is true."""
    change = Change(settings=[setting])
    predicted = (await played(await recording_of(scene), change)).recording.decisions
    real = (await recording_of(scene, change)).decisions
    if predicted.stop_reason:
        assert predicted.stop_reason == real.stop_reason
        assert len(predicted.nodes) == len(real.nodes)
        assert predicted.totals.tokens == real.totals.tokens
    # A replay that stops early is right as far as it goes.
    assert predicted.nodes == real.nodes[: len(predicted.nodes)]
    assert predicted.facts == real.facts[: len(predicted.facts)]


async def test_a_threshold_that_is_never_met_changes_nothing():
    diff = await diff_of("unbelieved", Change(settings=["decide.DOUBTS=5"]))
    assert diff.is_same
    assert "no decision differs" in told(diff)


async def test_the_report_says_what_is_saved():
    diff = await diff_of("unbelieved", Change(settings=["decide.DOUBTS=0"]))
    assert (diff.before.turns, diff.now.turns) == (3, 1)
    assert (diff.stop_before, diff.stop_now) == ("answered", "partial_answer")
    assert diff.turns[0].newly[0] == "decides: taken as partial: nothing was gathered"
    text = told(diff)
    assert "Turns 2 to 3 do not happen any more" in text
    assert "turns: 3 → 1 (-2)" in text
    assert "end: answered → partial answer" in text


async def test_responses_to_another_request_are_marked_as_assumed():
    diff = await diff_of("unbelieved", Change(classifier=classifier_from("conversational", None)))
    assert [note.turn for note in diff.assumed] == [1]
    assert diff.turns[0].newly[0] == "takes it for a question of type conversational"


@pytest.mark.parametrize("scene", ["unbelieved", "a broad question"])
async def test_responses_of_another_model_are_marked_as_assumed(scene):
    recording = await recording_of(scene)
    diff = compared(recording, await played(recording, Change(settings=["model.name=openai:x"])))
    kinds = [effect.identity.kind for effect in recording.effects]
    assert len(diff.assumed) == kinds.count("model") + kinds.count("part")
    assert {note.why for note in diff.assumed} == {"prompt"}


async def test_a_change_that_leaves_the_prompt_alone_assumes_nothing():
    diff = await diff_of("unbelieved", Change(trees=[BUILT_IN], prompts=BUILT_IN))
    assert (diff.is_same, diff.assumed) == (True, [])


async def test_a_classifier_that_fails_is_not_a_difference():
    broken = classifier_from("mine:of", lambda _: lambda *_: 1 / 0)
    with pytest.raises(InputError, match="mine:of raised ZeroDivisionError"):
        await diff_of("unbelieved", Change(classifier=broken))


async def test_a_longer_prompt_costs_more_and_its_answers_are_assumed(tmp_path):
    (tmp_path / "code.md").write_text("---\nid: code\n---\n" + "Answer slowly. " * 500)
    diff = await diff_of("unbelieved", Change(prompts=str(tmp_path)))
    assert diff.is_same
    assert [(note.turn, note.why) for note in diff.assumed] == [(n, "prompt") for n in (1, 2, 3)]
    assert "no decision differs, if the model answers as recorded" in told(diff)
    assert "Assumed: in turns 1, 2, 3 the recorded response is used" in told(diff)
    assert diff.now.tokens > diff.before.tokens + 2_000


async def test_our_own_trees_and_prompts_change_nothing():
    assert (await diff_of("stuck", Change(trees=[BUILT_IN], prompts=BUILT_IN))).is_same


@pytest.fixture
def tree(tmp_path):
    """Writes a changed copy of one of our tree files."""

    def write(name, *changes):
        text = built_in_trees()[name]
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / name).write_text(text)
        return Change(trees=[str(tmp_path / name)])

    return write


async def test_a_tree_whose_nodes_only_have_other_names_decides_the_same(tree):
    renamed = tree("decide.lua", ('BT.selector("claim checked"', 'BT.selector("is it true"'))
    assert (await diff_of("unbelieved", renamed)).is_same


async def test_a_new_node_that_comes_first_is_named_as_the_reason(tree):
    new = 'BT.sequence("trust it", { reply.has_text, finish.answered, BT.exit("turns") }),'
    old = 'BT.selector("claim checked", {'
    diff = await diff_of("unbelieved", tree("decide.lua", (old, f"{old}\n{new}")))
    first = diff.turns[0]
    assert "claim checked/" in first.node
    assert first.now == "not reached"
    assert first.instead.endswith("claim checked/trust it")
    assert "now: is not reached, because decide › context_sufficient" in told(diff)
    assert diff.stop_now == "answered"


async def test_a_branch_that_is_taken_out_is_named(tree):
    change = tree(
        "decide.lua",
        ('      send_back_to_search(),\n      BT.sequence("partial', '      BT.sequence("partial'),
    )
    diff = await diff_of("unbelieved", change)
    assert diff.turns[0].turn == 1
    first = diff.turns[0]
    assert first.node.endswith("claim checked/send it back to search")
    assert (first.before, first.now) == ("success", GONE)
    assert diff.stop_now == "partial_answer"


async def test_a_subtree_that_is_taken_out_of_a_turn_is_named(tree):
    diff = await diff_of("5 turns", tree("turn.lua", ('    BT.subtree("work"),\n', "")))
    assert diff.turns[0].node.endswith("turn/work")
    assert diff.turns[0].now == GONE


async def test_of_a_branch_that_was_renamed_both_names_are_given(tree):
    renamed = tree(
        "decide.lua",
        ('BT.sequence("send it back to search"', 'BT.sequence("back to work"'),
        ("local DOUBTS = 1 ", "local DOUBTS = 0 "),
    )
    first = (await diff_of("unbelieved", renamed)).turns[0]
    assert first.node.endswith("claim checked/send it back to search")
    assert first.instead.endswith("claim checked/back to work")


async def test_the_drawing_marks_the_changed_node_and_the_way_to_it():
    recording = await recording_of("unbelieved")
    again = await played(recording, Change(settings=["decide.DOUBTS=0"]))
    node = compared(recording, again).turns[0].node
    drawn = changed_as_mermaid(again.definition, [node])
    number = again.definition.by_path[node].index
    assert f"class n{number} changed" in drawn
    assert f"==> n{number}\n" in drawn
    assert drawn.count("-->") < 500
    assert "class n0 way" in drawn
