"""Nobody waits for a model that is missing, broken, slow or still being loaded."""

import threading

import pytest

from oracle.services.bert.background_model import BackgroundModel, NoAnswer
from oracle.services.bert.minilm import BertMissing


@pytest.fixture
def door():
    """A hanging call waits here. It is opened at the end, so that no thread stays."""
    door = threading.Event()
    yield door
    door.set()


def loaded(model=str.upper, **options):
    found = BackgroundModel(lambda: model, **options)
    found.start().result(5)
    return found


async def test_a_loaded_model_answers():
    assert await loaded().ask(lambda upper: upper("yes")) == "YES"


async def test_nothing_is_loaded_before_the_first_question():
    asked = []
    model = BackgroundModel(lambda: asked.append(1))
    assert asked == []
    model.start().result(5)
    model.start().result(5)
    assert asked == [1]


async def test_a_question_does_not_wait_for_the_loading(door):
    model = BackgroundModel(door.wait)
    with pytest.raises(NoAnswer, match="BERT is still being loaded"):
        await model.ask(lambda _: "late")
    assert not model.start().done()


@pytest.mark.parametrize(
    ("problem", "told"),
    [
        (BertMissing("is not installed (pip …)"), r"^BERT is not installed \(pip …\)$"),
        (OSError("no weights\nsecond line"), "^BERT cannot be loaded: OSError: no weights$"),
        (ImportError(), "^BERT cannot be loaded: ImportError$"),
    ],
)
async def test_what_is_missing_or_broken_is_named_each_time(problem, told):
    def load():
        raise problem

    model = BackgroundModel(load)
    assert model.start().exception(5) is problem
    for _ in range(2):
        with pytest.raises(NoAnswer, match=told):
            await model.ask(lambda _: "never")


async def test_a_question_that_fails_is_named_and_the_next_is_answered():
    model = loaded()
    with pytest.raises(NoAnswer, match="BERT failed: ZeroDivisionError"):
        await model.ask(lambda _: 1 / 0)
    assert await model.ask(lambda upper: upper("on")) == "ON"


async def test_a_question_that_hangs_is_left_and_others_are_refused_at_once(door):
    model = loaded(seconds=0.05)
    with pytest.raises(NoAnswer, match="did not answer within 50 ms"):
        await model.ask(lambda _: door.wait())
    with pytest.raises(NoAnswer, match="still busy"):
        await model.ask(lambda upper: upper("now"))
    door.set()
    model._late.result(60)
    model._seconds = 60  # the short limit was for the question that hangs
    assert await model.ask(lambda upper: upper("again")) == "AGAIN"
