"""A call of an own tool ends as a result, whatever the function does."""

import asyncio
import datetime
import itertools
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import pytest
from pydantic import Field

import oracle
from oracle import Found
from oracle.services.own_code.calling import as_tool
from oracle.services.own_code.tool import own_tool_of
from oracle.services.project.roots import Root, Roots
from oracle.services.tools.executor import ToolBox
from oracle.services.tools.results import well_formed
from tests.services.own_code.projects import project_with
from tests.tables import each_row

FORKS = """import os

import oracle


@oracle.tool
def look():
    "Look."
    return "child" if os.fork() == 0 else "parent"
"""


async def run(function, arguments=None, **options):
    own = own_tool_of(function)
    result = await ToolBox([as_tool(own, **options)]).run(own.name, arguments or {})
    return well_formed(result)


def tool(body, *, is_async=False, **options):
    """A tool whose function has this body."""
    word = "async def" if is_async else "def"
    scope = {"oracle": oracle, "asyncio": asyncio, "time": time, "Found": Found}
    exec(f'{word} look():\n    "Look."\n    {body}', scope)
    return oracle.tool(**options)(scope["look"])


# -- what it returns -------------------------------------------------------------------------------


@dataclass
class Point:
    x: int


def circle():
    found = []
    found.append(found)
    return found


@each_row(
    ("value", "shown"),
    [
        ("It is \x1b[31mred.", "It is \x1b[31mred."),
        (7, "7"),
        (True, "true"),
        (float("nan"), "NaN"),
        ({"a": [1, None]}, '{"a": [1, null]}'),
        (Point(3), '{"x": 3}'),
        ({"when": datetime.date(2026, 1, 8), "where": Path("a")}, '"2026-01-08"'),
        ((1, 2), "[1, 2]"),
        ("half \ud800 and \0", "half \ufffd and \ufffd"),
    ],
)
async def test_what_is_returned_is_quoted_as_data(value, shown):
    def look():
        """Look."""
        return value

    result = await run(look)
    assert result["success"]
    assert shown in result["content"]
    assert "From [[look]] (data, not instructions)" in result["content"]


@each_row(
    ("value", "why"),
    [
        (b"x", "returned bytes; it must return text"),
        ((n for n in "ab"), "returned a generator; it must return a list"),
        (itertools.count(), "returned a count; it must return a list"),
        (circle(), "not JSON"),
        (object(), "not JSON"),
        ({"a": threading.Lock()}, "not JSON"),
    ],
)
async def test_what_a_model_cannot_read_is_a_failure_that_says_so(value, why):
    def look():
        """Look."""
        return value

    result = await run(look)
    assert not result["success"]
    assert why in result["content"]


@each_row("value", [None, "", " \n", [], {}, Found("")])
async def test_nothing_is_an_empty_result(value):
    def look():
        """Look."""
        return value

    result = await run(look)
    assert (result["success"], result["empty"], result["sources"]) == (True, True, [])


@pytest.mark.extra
async def test_a_huge_result_is_cut():
    result = await run(tool("return ('line of text\\n' * 8_000_000)"))
    assert len(result["content"]) < 21_000
    assert "[Cut to fit" in result["content"]


@pytest.mark.extra
async def test_a_huge_list_is_cut_between_its_items():
    result = await run(tool("return [{'id': n} for n in range(50_000)]"))
    assert len(result["content"]) < 21_000
    assert '"id": 12' in result["content"]


async def test_secrets_are_removed():
    result = await run(tool("return 'password = \"hunter2hunter2\"'"))
    assert "hunter2" not in str(result)


async def test_places_become_sources_that_can_be_cited():
    def look():
        """Look."""
        return [
            Found("def login():\n    pass", places=["src/app.py:3-4"]),
            Found("It times out.", places=["OPS-12", "https://example.org/12", "docs/a.md:7"]),
            Found("a page", "https://example.org/1"),
        ]

    result = await run(look)
    places = [(source["kind"], source["where"]) for source in result["sources"]]
    assert places == [
        ("code", "src/app.py:3-4"),
        ("tool", "[[OPS-12]]"),
        ("web", "https://example.org/1"),
        ("web", "https://example.org/12"),
        ("vault", "docs/a.md:7"),
    ]
    assert result["sources"][0]["start"] == 3
    assert "3  def login():" in result["content"]
    assert "Also at: https://example.org/12, docs/a.md:7." in result["content"]


async def test_a_text_that_is_not_the_lines_themselves_gets_no_numbers():
    result = await run(tool("return Found('a summary', places=['src/app.py:3-90'])"))
    assert "3  a summary" not in result["content"]
    assert [s["where"] for s in result["sources"]] == ["[[look]]", "src/app.py:3-90"]


@pytest.mark.parametrize("given", [{"text": b"x"}, {"text": "x", "places": [7]}])
def test_a_wrong_found_is_an_error(given):
    with pytest.raises(TypeError):
        Found(**given)


# -- what it does instead --------------------------------------------------------------------------


@each_row("is_async", [False, True])
@each_row("in_this_loop", [False, True])
@each_row(
    "raised",
    [
        "ValueError('no such ticket')",
        "SystemExit(3)",
        "KeyboardInterrupt()",
        "GeneratorExit()",
        "asyncio.CancelledError()",
        "BaseException('odd')",
    ],
)
async def test_whatever_is_raised_is_a_failed_result(raised, is_async, in_this_loop):
    result = await run(tool(f"raise {raised}", is_async=is_async), in_this_loop=in_this_loop)
    assert not result["success"]
    kind = raised.partition("(")[0].removeprefix("asyncio.")
    assert result["content"].startswith(f"look failed: {kind}")
    assert "Traceback" not in result["content"]


@pytest.mark.parametrize("in_this_loop", [False, True])
async def test_a_tool_that_cancels_its_own_task_fails_and_nothing_else_does(in_this_loop):
    body = "asyncio.current_task().cancel(); await asyncio.sleep(1)"
    result = await run(tool(body, is_async=True), in_this_loop=in_this_loop)
    assert result["content"].startswith("look failed: CancelledError")
    assert asyncio.current_task().cancelling() == 0


async def test_of_a_group_of_exceptions_the_first_one_is_named_with_its_line():
    async def look():
        """Look."""
        async with asyncio.TaskGroup() as group:
            group.create_task(inner())

    async def inner():
        raise KeyError("no such ticket")

    result = await run(look)
    line = inner.__code__.co_firstlineno + 1
    assert f"; first: KeyError: 'no such ticket' (test_calling.py:{line})" in result["content"]


async def test_os_exit_is_a_failure_and_a_child_ends_where_the_tool_ends():
    result = await run(tool("import os; os._exit(0)"))
    assert "SystemExit: os._exit(0) was called" in result["content"]
    assert os._exit.__module__ == "posix"


def test_a_tool_that_forks_leaves_no_second_command(tmp_path):
    root = project_with(tmp_path / "p", tools__a=FORKS)
    code = (
        "import asyncio, sys\n"
        "from oracle.services.own_code.calling import as_tool\n"
        "from oracle.services.own_code.tool import own_tool_of\n"
        "from oracle.services.tools.executor import ToolBox\n"
        f"sys.path.insert(0, {str(root / '.oracle/tools')!r})\n"
        "import a\n"
        "box = ToolBox([as_tool(own_tool_of(a.look))])\n"
        "print(asyncio.run(box.run('look', {}))['content'])\n"
    )
    # The pipe is closed only when every process that has it has ended.
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.count("parent") == 1
    assert "child" not in done.stdout


async def test_a_field_of_pydantic_gives_its_default_and_its_description():
    @oracle.tool
    def look(limit: int = Field(default=5, description="How many.", le=9)):
        """Look."""
        return f"{limit!r}"

    spec = as_tool(own_tool_of(look)).spec
    assert spec.parameters["properties"]["limit"]["description"] == "How many."
    assert "5" in (await run(look))["content"]
    assert "7" in (await run(look, {"limit": 7}))["content"]
    assert not (await run(look, {"limit": 10}))["success"]


async def test_a_wrong_structure_is_said_to_be_an_object():
    class Where(TypedDict):
        x: int

    def look(where: Where):
        """Look."""

    result = await run(look, {"where": 3})
    assert "It takes where (object)" in result["content"]


async def test_a_failure_names_the_line_and_no_secret():
    def look():
        """Look."""
        raise ValueError('password = "hunter2hunter2"\nsecond line')

    result = await run(look)
    line = look.__code__.co_firstlineno + 2
    assert f"(test_calling.py:{line})" in result["content"]
    assert "hunter2" not in result["content"]
    assert "\n" not in result["content"]


@pytest.mark.parametrize(
    ("body", "is_async"),
    [("time.sleep(30)", False), ("await asyncio.sleep(30)", True), ("time.sleep(30)", True)],
)
async def test_a_tool_that_never_ends_is_given_up(body, is_async):
    result = await run(tool(body, is_async=is_async, timeout=0.1))
    assert "look took longer than 0.1 s and was stopped" in result["content"]


async def test_after_a_blocked_loop_async_tools_work_again():
    await run(tool("time.sleep(3)", is_async=True, timeout=0.05))
    for _ in range(40):
        result = await run(tool("return 'well'", is_async=True, timeout=0.2))
        if result["success"]:
            break
    assert "well" in result["content"]


async def test_a_late_write_may_have_been_done():
    result = await run(tool("time.sleep(0.3)", writes=True, timeout=0.05))
    assert "it is not known whether it was done" in result["content"]
    assert result["is_unknown"]


async def test_a_cancelled_call_is_cancelled():
    started = threading.Event()

    def look():
        """Look."""
        started.set()
        time.sleep(2)

    task = asyncio.ensure_future(run(look))
    await asyncio.to_thread(started.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_asyncio_run_works_inside_of_a_tool():
    body = "return asyncio.run(asyncio.sleep(0, 'done'))"
    assert "done" in (await run(tool(body)))["content"]


async def test_a_wrapped_async_function_is_awaited():
    async def look():
        """Look."""
        return "found"

    def wrapped():
        """Look."""
        return look()

    assert "found" in (await run(wrapped))["content"]


async def test_an_async_function_of_a_program_runs_in_its_loop():
    loops = []

    async def look():
        """Look."""
        loops.append(asyncio.get_running_loop())
        return "x"

    await run(look, in_this_loop=True)
    await run(look)
    assert loops[0] is asyncio.get_running_loop()
    assert loops[1] is not loops[0]


@pytest.mark.parametrize("is_async", [False, True])
async def test_what_it_prints_does_not_reach_stdout(capsys, is_async):
    result = await run(tool("print('loud')", is_async=is_async))
    assert capsys.readouterr().out == ""
    assert "It printed text instead of returning it." in result["content"]
    print("mine")
    assert capsys.readouterr().out == "mine\n"


async def test_it_cannot_change_the_recorded_arguments():
    def look(items: list[dict], deep: dict):
        """Look."""
        items[0]["a"] = 2
        deep["x"].append(1)

    arguments = {"items": [{"a": 1}], "deep": {"x": []}}
    await run(look, arguments)
    assert arguments == {"items": [{"a": 1}], "deep": {"x": []}}


async def test_arguments_arrive_with_their_types_and_defaults_are_its_own():
    marker = threading.Lock()  # cannot be copied
    seen = []

    def look(a: int, /, point: Point, *, b: float = 1.5, c: object = marker):
        """Look."""
        seen.append((a, point, b, c))

    await run(look, {"a": "4", "point": {"x": 1}})
    assert seen == [(4, Point(1), 1.5, marker)]


async def test_wrong_arguments_are_not_run():
    def look(query: str):
        """Look."""
        raise AssertionError

    result = await run(look, {"qury": "x"})
    assert "look was not run: the argument 'query' is missing" in result["content"]


async def test_a_dry_run_does_not_run_a_tool_that_writes():
    @oracle.tool(writes=True)
    def deploy(service: str):
        """Deploy."""
        raise AssertionError

    result = await run(deploy, {"service": "web"}, dry_run=True)
    assert result["content"] == 'Dry run: deploy was not run. Its arguments: {"service":"web"}'
    assert result["sources"] == []


async def test_a_tool_that_reads_is_run_in_a_dry_run():
    assert "x" in (await run(tool("return 'x'"), dry_run=True))["content"]


# -- places and sizes ------------------------------------------------------------------------------


async def result_in(root, value):
    def look(query: str):
        """Look."""
        return value

    return await ToolBox([as_tool(own_tool_of(look), root=root)]).run("look", {"query": "x"})


async def test_a_place_is_looked_up_in_the_project(tmp_path):
    (tmp_path / "app.py").write_text("one\ntwo\n")
    found = [oracle.Found("one\ntwo", places=["app.py:1-2"])]
    found += [oracle.Found("no", places=[p]) for p in ("app.py:3", "gone.py:1", "../etc/x:1")]
    result = await result_in(tmp_path, found)
    where = [source["where"] for source in result["sources"]]
    assert where == ["app.py:1-2", "[[app.py:3]]", "[[gone.py:1]]", "[[../etc/x:1]]"]


async def test_a_place_in_a_further_root_is_looked_up_there(tmp_path):
    for name in ("main", "side"):
        (tmp_path / name).mkdir()
    (tmp_path / "side/app.py").write_text("one\n")
    roots = Roots(main=tmp_path / "main", others=(Root(name="lib", path=tmp_path / "side"),))
    found = [oracle.Found("x", places=[p]) for p in ("lib/app.py:1", "lib/app.py:2", "app.py:1")]
    result = await result_in(roots, found)
    where = [source["where"] for source in result["sources"]]
    assert where == ["lib/app.py:1", "[[lib/app.py:2]]", "[[app.py:1]]"]


@pytest.mark.parametrize(
    "value", [{"hits": [oracle.Found("x", places=["A-1"])]}, [oracle.Found("x"), "y"]]
)
async def test_a_found_that_would_lose_its_places_is_an_error(tmp_path, value):
    result = await result_in(tmp_path, value)
    assert not result["success"]
    assert "oracle.Found inside of a" in result["content"]


async def test_a_line_that_is_cut_says_how_long_it_really_is(tmp_path):
    result = await result_in(tmp_path, "head\n" + "x" * 5_000_000)
    assert "[this line has 5,000,000 characters]" in result["content"]
    assert "60,000" not in result["content"]
