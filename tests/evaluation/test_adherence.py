"""Adherence is counted by response, from events, and only where signals were asked for."""

from oracle.evaluation.adherence import adherence_in, adherence_of
from oracle.services.ans.event import Event, running_in
from oracle.services.ans.table import open_events
from oracle.services.signals.parser import NOT_LAST
from oracle.services.storage.database import Database, as_url


def event(type_, run="r", turn=1, **payload):
    with running_in(run, turn, clock=lambda: 100.0 + turn):
        return Event(type=type_, source="turn", payload=payload)


def started(run="r", model="m", tree="oracle-agent"):
    return event("run.started", run, 0, question="?", tree=tree, model=model, resumed=False)


def received(turn=1, run="r", type_="need_turn", problems=()):
    return event("signal.received", run, turn, type=type_, confidence=0.9, problems=list(problems))


def malformed(turn=1, problem="no type"):
    return event("signal.malformed", turn=turn, problem=problem, raw_xml="<signal/>", at=0)


def test_each_response_counts_once():
    (found,) = adherence_of(
        [
            started(),
            received(1),
            malformed(1),
            malformed(2),
            malformed(2),
            event("signal.missing", turn=3, turns_without_signal=1),
            event("signal.ignored", turn=1, type="stuck"),
        ]
    )
    counts = (found.responses, found.valid, found.malformed, found.missing, found.second)
    assert counts == (3, 1, 1, 1, 1)
    assert found.problems == {"no type": 3}
    assert found.types == {"need_turn": 1}


def test_a_signal_before_text_is_misplaced_and_other_problems_are_named():
    (found,) = adherence_of([started(), received(problems=[NOT_LAST, "confidence dropped"])])
    assert found.misplaced == 1
    assert found.problems == {"confidence dropped": 1}


def test_a_claim_that_was_not_believed_is_valid_but_not_apt():
    decided = {"signal": "context_sufficient", "verdict": "not_believed", "reason": "nothing"}
    (found,) = adherence_of([started(), received(), event("decision.made", **decided)])
    assert (found.valid, found.not_believed, found.apt) == (1, 1, 0)
    assert found.reactions == {("context_sufficient", "did not take it as the answer"): 1}


def test_what_the_tree_did_is_counted_in_words():
    asked = {"last_signal_type": None, "classification_action": "force_response"}
    granted = {"tool": "web_search", "reason": "asked", "by": "the tree"}
    events = [event("fallback.triggered", **asked), event("grant.given", **granted)]
    (found,) = adherence_of([started(), *events])
    assert found.reactions == {
        ("no signal", "asked for the answer (fallback)"): 1,
        ("", "granted a tool"): 1,
    }


def test_the_plain_loop_and_runs_without_a_start_are_left_out():
    plain = [started("p", tree="baseline"), event("signal.missing", "p", turns_without_signal=1)]
    assert adherence_of([*plain, received(run="unknown")]) == []


def test_models_are_listed_by_name():
    events = [started("1", "b"), started("2", "a"), started("3", "b")]
    assert [(each.model, each.runs) for each in adherence_of(events)] == [("a", 1), ("b", 2)]


async def test_the_newest_runs_of_a_model_are_read_from_the_log(tmp_path):
    url = as_url(tmp_path / "events.db")
    await (await Database.open(url)).close()
    table = open_events(url)
    for run, model in (("1", "x:a"), ("2", "x:b"), ("3", "y:c")):
        table.append([started(run, model), received(run=run)])
    assert [each.model for each in adherence_in(table)] == ["x:a", "x:b", "y:c"]
    assert [each.model for each in adherence_in(table, model="x:*", last=1)] == ["x:b"]
    assert adherence_in(table, since=101.0) == []
    table.close()
