"""Attacks on the ledger: no limit is exceeded, and there is always room for the last answer."""

import asyncio

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracle.services.control.ledger import Limits
from oracle.services.llm.protocol import Prices
from oracle.testing import MeteredModel, Reply, ScriptedTools, signal
from oracle.testing.metered import tokens_in
from tests.asking import ask

END = "THE END"
PROSE = "word and other words of a file "
DENSE = "f3Q/9+xZ0a8K=1){7};:"
PRICES = Prices(input=3.0, output=15.0)
STEPPED = Prices(input=1.0, output=5.0, above=9_000, then=Prices(input=4.0, output=20.0))
LARGE = Limits(tokens=10_000_000, money=None, turns=200, uses_of_a_tool=200)


def answer_of(tokens: int, factor: float) -> str:
    """An answer with that many tokens of the model, which ends with a mark."""
    text = ""
    while tokens_in(text + PROSE + END, factor) <= tokens:
        text += f"{len(text)} {PROSE}"
    return text + END


def searching(answer: str, calls: int = 1, talk: str = ""):
    """A model that calls tools as long as it has some, and then answers."""

    def reply(request):
        if not request.tools:
            return answer
        asked = [("search_code", {"query": f"{len(request.messages)} {n}"}) for n in range(calls)]
        return Reply(
            text=talk + signal("need_turn", reason=f"r{len(request.messages)}"), calls=asked
        )

    return reply


def results_of(characters: int, text: str = PROSE):
    body = text * (characters // len(text) + 1)
    return ScriptedTools({"search_code": lambda a: f"f{a['query']}.py:1 {body}"[:characters]})


def check_limits(heard, model, limits):
    assert model.tokens <= limits.tokens
    assert heard.done["usage"]["tokens"] <= limits.tokens
    if limits.money is not None and model.prices is not None:
        assert model.money <= limits.money * (1 + 1e-9)
        assert heard.done["usage"]["money"] <= limits.money * (1 + 1e-9)
    assert len(model.requests) <= limits.turns
    assert all(n <= limits.uses_of_a_tool for n in heard.done["usage"]["uses"].values())
    assert heard.stop not in ("internal_error", "model_unavailable", "no_progress", "tick_budget")


sizes = st.sampled_from([0, 200, 5_000, 24_000, 200_000])
factors = st.sampled_from([0.4, 0.8, 1.0, 1.25, 1.6, 2.0])


@given(
    result=sizes,
    text=st.sampled_from([PROSE, DENSE, "中文字符 "]),
    calls=st.integers(1, 6),
    talk=st.sampled_from([0, 2_000, 30_000]),
    factor=factors,
    tokens=st.integers(0, 120_000) | st.integers(0, 20_000),
    money=st.none() | st.floats(0.0, 0.6),
    prices=st.sampled_from([PRICES, STEPPED, Prices(input=0.0, output=0.0)]),
    answer=st.integers(5, 250),
    longest=st.sampled_from([300, 1_000, 4_096, 16_384]),
    obedient=st.booleans(),
)
@settings(
    max_examples=60,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
def test_no_limit_is_exceeded_and_the_last_answer_is_whole(
    result, text, calls, talk, factor, tokens, money, prices, answer, longest, obedient
):
    limits = Limits(tokens=tokens, money=money, turns=8, uses_of_a_tool=40)
    said = answer_of(answer, factor)
    model = MeteredModel(
        searching(said, calls, PROSE * (talk // len(PROSE))),
        factor=factor,
        prices=prices,
        longest_output=longest,
        obedient=obedient,
    )
    heard = asyncio.run(ask(model=model, tools=results_of(result, text), limits=limits))
    check_limits(heard, model, limits)
    if model.requests:
        assert heard.done["answer"].endswith(END), (heard.stop, heard.done["detail"])
    else:
        assert "needs a limit of" in heard.done["answer"]
