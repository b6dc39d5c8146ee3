from contextlib import aclosing

import pytest

from oracle.errors import ModelBrokeOff, ModelError, ModelOverloaded, ModelRefused
from oracle.services.llm.protocol import ModelRequest
from oracle.services.llm.retrying import RetryingModel
from oracle.testing.servers import Reply, ScriptedServer
from tests.services.llm.dialects import asking

ASK = ModelRequest(messages=[])
BUSY = ModelOverloaded("busy")


class Scripted:
    """Plays one script for each attempt. An error in a script is raised."""

    name, context_window, longest_output, prices = "scripted", 1, 2, None

    def __init__(self, *attempts):
        self.attempts = list(attempts)
        self.closed = 0

    async def stream(self, request):
        try:
            for part in self.attempts.pop(0):
                if isinstance(part, Exception):
                    raise part
                yield {"text": part}
        finally:
            self.closed += 1


async def heard(model, waits, **settings):
    async def sleep(seconds):
        waits.append(seconds)

    patient = RetryingModel(model, sleep=sleep, chance=lambda: 0.0, **settings)
    return [part["text"] async for part in patient.stream(ASK)]


async def test_an_overloaded_model_is_asked_again_after_waits_that_double():
    waits = []
    model = Scripted([BUSY], [BUSY], [BUSY], ["at", "last"])
    assert await heard(model, waits) == ["at", "last"]
    assert waits == [0.5, 1.0, 2.0]


async def test_a_connection_that_breaks_off_before_the_response_is_tried_again():
    waits = []
    broken = ModelBrokeOff("broke off")
    assert await heard(Scripted([broken], ["at", "last"]), waits) == ["at", "last"]
    assert waits == [0.5]
    with pytest.raises(ModelBrokeOff):
        await heard(Scripted(["in ", "mid", broken], ["again"]), waits)
    assert waits == [0.5]


async def test_attempts_are_bounded():
    waits = []
    model = Scripted([BUSY], [BUSY], ["late"])
    with pytest.raises(ModelOverloaded, match="busy"):
        await heard(model, waits, attempts=2)
    assert waits == [0.5]


async def test_waits_are_bounded():
    waits = []
    await heard(Scripted(*[[BUSY]] * 9, ["x"]), waits, attempts=10, longest_wait=4)
    assert waits == [0.5, 1.0, 2.0, 4, 4, 4, 4, 4, 4]


@pytest.mark.parametrize(("asked", "waited"), [(7.0, 7.0), (0.1, 0.5), (30.0, 30.0)])
async def test_a_provider_that_says_how_long_is_obeyed(asked, waited):
    waits = []
    await heard(Scripted([ModelOverloaded("busy", retry_after=asked)], ["x"]), waits)
    assert waits == [waited]


async def test_a_provider_that_asks_for_too_long_is_not_waited_for():
    waits = []
    with pytest.raises(ModelOverloaded):
        await heard(Scripted([ModelOverloaded("busy", retry_after=3600)], ["x"]), waits)
    assert waits == []


async def test_chance_takes_up_to_half_of_a_wait():
    waits = []

    async def sleep(seconds):
        waits.append(seconds)

    patient = RetryingModel(Scripted([BUSY], ["x"]), sleep=sleep, chance=lambda: 0.5)
    assert [part async for part in patient.stream(ASK)] == [{"text": "x"}]
    assert waits == [0.375]


async def test_what_has_been_streamed_is_never_streamed_again():
    waits = []
    with pytest.raises(ModelOverloaded):
        await heard(Scripted(["so far", BUSY], ["x"]), waits)
    assert waits == []


@pytest.mark.parametrize("error", [ModelError("broke off"), ModelRefused("bad key")])
async def test_other_failures_are_final(error):
    with pytest.raises(type(error)):
        await heard(Scripted([error], ["x"]), [])


async def test_each_attempt_is_closed():
    model = Scripted([BUSY], ["a", "b"])
    patient = RetryingModel(model, sleep=lambda _: _nothing())
    async with aclosing(patient.stream(ASK)) as parts:
        assert await anext(parts) == {"text": "a"}
        assert model.closed == 1
    assert model.closed == 2


async def _nothing():
    pass


async def test_the_wrapped_model_shows_through():
    model = RetryingModel(Scripted())
    assert (model.name, model.context_window, model.longest_output) == ("scripted", 1, 2)
    assert model.prices is None


async def test_over_a_socket_a_rate_limit_passes(dialect):
    wire = dialect.wire
    waits = []

    async def sleep(seconds):
        waits.append(seconds)

    reply = Reply(body=wire.stream(wire.text("here")))
    async with ScriptedServer(wire.rate_limited("3"), wire.overloaded(), reply) as server:
        model = RetryingModel(dialect.open(server), sleep=sleep, chance=lambda: 0.0)
        parts = [part async for part in model.stream(asking("hi"))]
        assert len(server.requests) == 3
    assert parts[0] == {"text": "here"}
    assert waits == [3.0, 1.0]


async def test_over_a_socket_an_overload_before_the_first_word_passes(dialect):
    wire = dialect.wire
    busy = Reply(body=[*wire.beginning(), wire.overload_event()])
    reply = Reply(body=wire.stream(wire.text("here")))
    async with ScriptedServer(busy, reply) as server:
        model = RetryingModel(dialect.open(server), sleep=lambda _: _nothing())
        parts = [part async for part in model.stream(asking("hi"))]
    assert parts[0] == {"text": "here"}
