"""Whatever a model writes as the arguments of a call, the run goes on and the model is told why."""

import json
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.bt.wrappers.run import Run
from oracle.bt.wrappers.run_store import open_store
from oracle.services.ans.writer import recording
from oracle.services.storage.database import Database, as_url
from oracle.services.tools.arguments import checked_call
from oracle.services.tools.project_tools import project_tools
from oracle.testing import ScriptedModel, ScriptedTools, signal
from tests.scenarios import CODE


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


UNSOUND = {
    "NaN": {"query": "x", "limit": math.nan},
    "infinity": {"query": "x", "limit": math.inf},
    "minus infinity": {"query": -math.inf},
    "NaN in text": '{"query": "x", "limit": NaN}',
    "1e999 in text": '{"query": "x", "limit": 1e999}',
    "half a character": {"query": "\ud800"},
    "half a character in text": '{"query": "\\udfff"}',
    "half a character in a name": {"\ud800": 1},
    "nested 10,000 deep": {"query": nested(10_000)},
    "nested 10,000 deep in text": '{"query": ' + "[" * 10_000 + "]" * 10_000 + "}",
    "nested 20 deep": {"query": nested(20)},
    "a huge integer": {"query": "x", "limit": 10**6_000},
    "an integer of 100 digits": {"query": "x", "limit": 10**100},
    "a huge integer in text": '{"query": "x", "limit": ' + "9" * 6_000 + "}",
    "NUL": {"query": "a\0b"},
    "NUL in text": '{"query": "a\\u0000b"}',
    "the same name twice": '{"query": "a", "query": "b"}',
    "the same name twice inside": '{"query": "a", "o": {"x": 1, "x": 2}}',
    "a list": "[1, 2]",
    "a list as data": [1, 2],
    "a number": "7",
    "a number as data": 7,
    "true": True,
    "words": "look for login",
    "half an object": '{"query": "x',
    "two objects": '{"query": "x"}{"query": "y"}',
    "bytes": {"query": b"x"},
    "a set": {"query": {1}},
    "a number as a name": {1: "x"},
    "a control character in text": '{"query": "a\x00b"}',
    "a complex number": {"query": 1j},
}
WRONG_TYPES = {
    "a list for text": {"query": ["x"]},
    "an object for text": {"query": {"a": {"b": 1}}},
    "null": {"query": None},
    "text for a number": {"query": "x", "limit": "many"},
    "half a number": {"query": "x", "limit": 1.5},
    "nothing": {},
    "too much": {"query": "x", "colour": "red"},
    "below the least": {"query": "x", "limit": -(2**62)},
    "empty": "",
}


class RawModel(ScriptedModel):
    """Hands over arguments as they are; the script would copy objects."""

    def __init__(self, *arguments, tool="search_code"):
        super().__init__("", repeats_last=True)
        self._calls = [(tool, each) for each in arguments]

    async def stream(self, request):
        self.requests.append(request)
        if len(self.requests) == 1:
            for number, (tool, each) in enumerate(self._calls):
                yield {"tool_call": {"id": f"c{number}", "name": tool, "arguments": each}}
        else:
            yield {"text": "That is all." + signal("partial_answer", missing="all", coverage=0.1)}


async def asked(model, tools, **options):
    wrapper = OracleBTWrapper(model=model, tools=tools, **options)
    return [chunk.to_dict() async for chunk in wrapper.process_query(CODE)]


def results(said):
    return [chunk for chunk in said if chunk["type"] == "tool_result"]


@pytest.mark.parametrize("first", range(0, len(UNSOUND), 20))
async def test_every_unsound_call_of_a_response_is_answered_and_none_is_run(first):
    """Twenty at a time: of more calls in one response some are left out."""
    unsound = dict(list(UNSOUND.items())[first : first + 20])
    tools = ScriptedTools({"search_code": "auth.py:3 def login()"})
    said = await asked(RawModel(*unsound.values()), tools)
    assert tools.calls == []
    assert [result["success"] for result in results(said)] == [False] * len(unsound)
    for name, result in zip(unsound, results(said), strict=True):
        assert result["content"].startswith("Not run: "), name
        assert len(result["content"]) < 500, name
    assert said[-1]["stop_reason"] not in ("internal_error", "store_failed")
    json.dumps(said, allow_nan=False, ensure_ascii=False).encode()


async def test_arguments_of_the_wrong_type_are_answered_and_not_run(tmp_path):
    said = await asked(RawModel(*WRONG_TYPES.values()), project_tools(tmp_path))
    for name, result in zip(WRONG_TYPES, results(said), strict=True):
        assert "ot run: " in result["content"], name
        assert "internally" not in result["content"], name
    assert said[-1]["stop_reason"] != "internal_error"


async def test_unsound_arguments_survive_the_journal_a_replay_and_both_databases(database_url):
    model = RawModel(*UNSOUND.values(), "\ud800", '{"q": "\udfff"}')
    tools = ScriptedTools({"search_code": "auth.py:3 def login()"})
    await (await Database.open(database_url)).close()
    with recording(database_url):
        async with open_store(database_url) as store:
            said = await asked(model, tools, store=store)
            again = Run.replay(said[-1]["run_id"], store=store)
            replayed = [chunk.to_dict() async for chunk in again.chunks()]
    assert said[-1]["stop_reason"] not in ("internal_error", "store_failed")
    assert results(replayed) == results(said)
    assert replayed[-1]["answer"] == said[-1]["answer"]


async def test_names_and_ids_that_are_not_text_are_answered_too():
    class Odd(RawModel):
        async def stream(self, request):
            async for part in super().stream(request):
                if "tool_call" in part:
                    part = {"tool_call": {**part["tool_call"], "name": "\ud800\0", "id": 7}}
                yield part

    said = await asked(Odd({"query": "x"}), ScriptedTools({"search_code": "a.py:1"}))
    (result,) = results(said)
    assert result["content"].startswith("Not run: ")
    assert said[-1]["stop_reason"] != "internal_error"


ODD_RESULTS = {"NaN": math.nan, "huge": 10**5_000, "deep": nested(5_000), "complex": {1j}}


@pytest.mark.parametrize("odd", ODD_RESULTS)
async def test_what_a_tool_returns_need_not_be_json_either(odd):
    answer = {"success": True, "content": "c", "sources": [], "extra": ODD_RESULTS[odd]}
    said = await asked(RawModel({"query": "x"}), ScriptedTools({"search_code": lambda _: answer}))
    assert len(results(said)) == 1
    assert said[-1]["stop_reason"] not in ("internal_error", "store_failed")


def test_sound_arguments_are_handed_on_unchanged():
    for sound in ({"a": [1, 2.5, None, True, "ü😀", {"b": {}}]}, {}, {"n": 2**63 - 1}):
        for written in (sound, json.dumps(sound)):
            call = {"id": "c", "name": "t", "arguments": written}
            assert checked_call(call) == {**call, "arguments": sound}
    assert checked_call({"id": "c", "name": "t", "arguments": None})["arguments"] == {}


ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec=None, exclude_categories=()))
    | st.binary(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(given=ANY | st.text() | ANY.map(lambda value: json.dumps(value, default=repr)))
def test_a_checked_call_can_be_stored_and_shown_anywhere(given):
    checked = checked_call({"id": "c", "name": "t", "arguments": given})
    assert json.loads(json.dumps(checked, allow_nan=False)) == checked
    assert "\0" not in json.dumps(checked).replace("\\\\", "").replace("\\u0000", "\0")
    assert json.dumps(checked, ensure_ascii=False).encode().decode()
    assert isinstance(checked["arguments"], dict) or checked["not_run"]


@pytest.mark.extra
@given(given=st.lists(ANY | st.text(), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
async def test_no_arguments_end_a_run_as_an_internal_error(given, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    async with open_store(as_url(folder / "oracle.db")) as store:
        said = await asked(RawModel(*given), project_tools(folder), store=store)
    assert len(results(said)) == len(given)
    assert said[-1]["stop_reason"] not in ("internal_error", "store_failed")
