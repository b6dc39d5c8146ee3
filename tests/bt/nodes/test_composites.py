"""The truth tables of the composites. A row: what the children answer, tick by tick, and what comes
out.
"""

import pytest

from oracle.bt.nodes import Guard, Parallel, ReactiveSelector, ReactiveSequence, Selector, Sequence
from oracle.bt.state.base import FAILURE, RUNNING, SKIPPED, SUCCESS
from oracle.errors import StructureError
from oracle.testing import ScriptedNode
from tests.tables import each_row
from tests.timing import within

S, F, R, K = SUCCESS, FAILURE, RUNNING, SKIPPED


def play(stage, kind, scripts, expected, **options):
    """Every script must be played to its end and no further, so the table is exact."""
    children = [ScriptedNode(*script) for script in scripts]
    on_stage = stage(kind(*children, **options))
    assert on_stage.ticks(len(expected)) == expected
    for child in children:
        child.check_played_out()
    return on_stage, children


@pytest.mark.parametrize(
    ("scripts", "expected"),
    [
        ([[S], [S]], [S]),
        ([[S], [F], []], [F]),
        ([[F], []], [F]),
        ([[S], [R, S], [S]], [R, S]),
        ([[S], [R, F], []], [R, F]),
        ([[S], [R, R, R, S], [S]], [R, R, R, S]),
        ([[K], [S]], [S]),
        ([[S], [K]], [S]),
        ([[K], [F], []], [F]),
        ([[K], [K]], [K]),
        ([[S], [R, K]], [R, S]),
        ([[K], [R, K]], [R, K]),
        ([[S, S], [F, S], [S]], [F, S]),
        ([[S, F], [R, F], []], [R, F, F]),
    ],
)
def test_sequence(stage, scripts, expected):
    play(stage, Sequence, scripts, expected)


@pytest.mark.parametrize(
    ("scripts", "expected"),
    [
        ([[S], []], [S]),
        ([[F], [S], []], [S]),
        ([[F], [F]], [F]),
        ([[F], [R, S], []], [R, S]),
        ([[F], [R, F], [F]], [R, F]),
        ([[F], [R, R, R, F], [S]], [R, R, R, S]),
        ([[K], [F]], [F]),
        ([[F], [K]], [F]),
        ([[K], [S], []], [S]),
        ([[K], [K]], [K]),
        ([[K], [R, K]], [R, K]),
        ([[F], [R, K]], [R, F]),
        ([[F, S], [F]], [F, S]),
        ([[F, F], [R, S, S]], [R, S, S]),
    ],
)
def test_selector(stage, scripts, expected):
    play(stage, Selector, scripts, expected)


@pytest.mark.parametrize(
    ("scripts", "expected", "halts_of_last"),
    [
        ([[S], [S]], [S], 0),
        ([[F], []], [F], 0),
        ([[S, S, S], [R, R, S]], [R, R, S], 0),
        ([[S, F], [R]], [R, F], 1),
        ([[S, S], [R, F]], [R, F], 0),
        ([[S, K], [R, S]], [R, S], 0),
        ([[K], [S]], [S], 0),
        ([[K], [K]], [K], 0),
        ([[K, K], [R, K]], [R, K], 0),
        ([[S, F, S], [R, S]], [R, F, S], 1),
        ([[R, S], [S]], [R, S], 0),
    ],
)
def test_reactive_sequence(stage, scripts, expected, halts_of_last):
    _, children = play(stage, ReactiveSequence, scripts, expected)
    assert children[-1].halts == halts_of_last


@pytest.mark.parametrize(
    ("scripts", "expected", "halts_of_last"),
    [
        ([[S], []], [S], 0),
        ([[F], [F]], [F], 0),
        ([[F, F, F], [R, R, F]], [R, R, F], 0),
        ([[F, S], [R]], [R, S], 1),
        ([[F, K], [R, S]], [R, S], 0),
        ([[K], [F]], [F], 0),
        ([[K], [K]], [K], 0),
        ([[F, S, F], [R, S]], [R, S, S], 1),
        ([[R, F], [S]], [R, S], 0),
    ],
)
def test_reactive_selector(stage, scripts, expected, halts_of_last):
    _, children = play(stage, ReactiveSelector, scripts, expected)
    assert children[-1].halts == halts_of_last


@pytest.mark.parametrize(("kind", "passes"), [(ReactiveSequence, S), (ReactiveSelector, F)])
@pytest.mark.parametrize("first_runner", [0, 1])
def test_a_second_running_child_under_a_reactive_node_is_an_error_that_names_both(
    stage, kind, passes, first_runner
):
    scripts = [[passes, R], [R]] if first_runner else [[R, passes], [R]]
    one, two = (ScriptedNode(*s, name=n) for s, n in zip(scripts, ["one", "two"], strict=True))
    on_stage = stage(kind(one, two, name="r"))
    on_stage.tick()
    with pytest.raises(StructureError) as error:
        on_stage.tick()
    assert "/r/one" in str(error.value)
    assert "/r/two" in str(error.value)


def test_after_a_reactive_node_has_ended_another_child_may_run(stage):
    play(stage, ReactiveSequence, [[R, S, S, S], [F, R, S]], [R, F, R, S])


@pytest.mark.parametrize(
    ("succeed", "scripts", "expected"),
    [
        ("all", [[S], [S]], [S]),
        ("all", [[S], [F]], [F]),
        ("all", [[F], []], [F]),
        ("all", [[R, S], [R, R, S]], [R, R, S]),
        ("all", [[S], [R, S]], [R, S]),
        ("all", [[K], [S]], [S]),
        ("all", [[S], [K]], [S]),
        ("all", [[K], [K]], [K]),
        ("all", [[K], [F]], [F]),
        ("all", [[K], [R, S]], [R, S]),
        ("all", [[R, K], [K]], [R, K]),
        ("one", [[S], []], [S]),
        ("one", [[F], [S]], [S]),
        ("one", [[F], [F]], [F]),
        ("one", [[R, R], [R, S]], [R, S]),
        ("one", [[K], [F]], [F]),
        ("one", [[K], [K]], [K]),
        ("one", [[K], [S]], [S]),
        (2, [[S], [F], [S]], [S]),
        (2, [[S], [S], []], [S]),
        (2, [[F], [F], []], [F]),
        (2, [[R, S], [R, F], [R, S]], [R, S]),
        (2, [[S], [K], [K]], [F]),
        (2, [[K], [K], [K]], [K]),
    ],
)
def test_parallel(stage, succeed, scripts, expected):
    play(stage, Parallel, scripts, expected, succeed=succeed)


def test_parallel_halts_those_that_still_run_once_the_result_is_known(stage):
    _, (slow, quick) = play(stage, Parallel, [[R, R], [R, S]], [R, S], succeed="one")
    assert (slow.halts, quick.halts) == (1, 0)


def test_parallel_starts_all_children_in_the_same_tick(stage):
    _, children = play(stage, Parallel, [[R], [R], [R]], [R])
    assert [child.ticks for child in children] == [1, 1, 1]


@pytest.mark.parametrize("kind", [Sequence, Selector, ReactiveSequence, ReactiveSelector, Parallel])
def test_a_halted_composite_halts_its_runner_once_and_starts_anew(stage, kind):
    child = ScriptedNode(R, S)
    on_stage = stage(kind(child))
    assert on_stage.tick() is R
    on_stage.halt()
    on_stage.halt()
    assert (on_stage.status(on_stage.node), on_stage.status(child), child.halts) == (None, None, 1)
    assert on_stage.tick() is S


@pytest.mark.parametrize("kind", [Sequence, Selector, ReactiveSequence, ReactiveSelector, Parallel])
@pytest.mark.parametrize("ended", [S, F, K])
def test_halting_what_has_ended_changes_nothing(stage, kind, ended):
    child = ScriptedNode(ended)
    on_stage = stage(kind(child))
    answer = on_stage.tick()
    on_stage.halt()
    assert (on_stage.status(on_stage.node), on_stage.status(child), child.halts) == (
        answer,
        ended,
        0,
    )


def test_a_sequence_forgets_its_place_when_it_is_halted(stage):
    first, second = ScriptedNode(S, S), ScriptedNode(R, S)
    on_stage = stage(Sequence(first, second))
    on_stage.tick()
    on_stage.halt()
    assert on_stage.tick() is S
    assert first.ticks == 2


@each_row("succeed", [0, 3, -1, "most", 1.5])
def test_parallel_refuses_a_number_that_cannot_be_reached(succeed):
    with pytest.raises(StructureError, match=r"use 'all', 'one' or a number from 1 to 2"):
        Parallel(ScriptedNode(S), ScriptedNode(S), succeed=succeed)


@each_row("kind", [Sequence, Selector, ReactiveSequence, ReactiveSelector, Parallel])
def test_a_composite_without_children_is_refused(kind):
    with pytest.raises(StructureError, match="takes 1 or more children, not 0"):
        kind()


def test_a_runner_that_a_guard_took_out_makes_room_for_another(stage):
    answers = iter([True, False, True])
    guarded = Guard(ScriptedNode(R), fn=lambda ctx: next(answers))
    on_stage = stage(ReactiveSelector(guarded, ScriptedNode(R)))
    assert on_stage.ticks(2) == [R, R]


def test_a_parallel_of_many_children_stays_quick(stage):
    children = [ScriptedNode(*[R] * n, S) for n in range(300)]
    on_stage = stage(Parallel(*children))
    on_stage.run.context.tick_budget = 10_000
    with within(2):
        assert on_stage.ticks(300)[-1] is S
