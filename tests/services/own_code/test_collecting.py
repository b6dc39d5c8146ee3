"""Own tools from files and packages. What is wrong with one costs only that one."""

import sys
from importlib.metadata import EntryPoint

import pytest

import oracle
from oracle.errors import InputError
from oracle.services.own_code import collecting, importing
from oracle.services.own_code.collecting import load_leaves, load_tools
from tests.services.own_code.projects import TOOL, project_with, trust_all


def loaded(root):
    trust_all(root)
    own = load_tools(root, {})
    return [brought.tool.name for brought in own.tools], list(own.problems)


def test_a_module_is_run_once_for_each_content(tmp_path):
    root = project_with(tmp_path / "p", tools__a=TOOL)
    trust_all(root)
    first, again = (load_tools(root, {}).tools[0].tool.function for _ in range(2))
    assert first is again
    (root / ".oracle/tools/a.py").write_text(TOOL.replace("30", "40"))
    trust_all(root)
    changed = load_tools(root, {}).tools[0].tool.function
    assert "40 minutes" in changed("x").text
    assert changed.__globals__["calls"] == ["x"]


def test_files_share_code_by_relative_imports(tmp_path):
    tool = (
        "import oracle\nfrom ._shared import WORDS\n"
        '@oracle.tool\ndef look():\n    "Look."\n    return WORDS\n'
    )
    root = project_with(tmp_path / "p", tools__a=tool, tools___shared="WORDS = 'shared'\n")
    assert loaded(root) == (["look"], [])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("import oracle\n\nx = 1 / 0", ".oracle/tools/a.py:3: ZeroDivisionError: division by zero"),
        ("def f(:", ".oracle/tools/a.py:1: SyntaxError: invalid syntax"),
        ("import sys\nsys.exit(3)", ".oracle/tools/a.py:2: SystemExit: 3"),
        ("raise KeyboardInterrupt", ".oracle/tools/a.py:1: KeyboardInterrupt; the tools"),
        ("import os\n\nos._exit(0)", ".oracle/tools/a.py:3: SystemExit: os._exit(0) was called"),
        ("import sys\nsys.modules['json'] = None", "it replaces 'json' in sys.modules"),
        ("import sys\ndel sys.modules['json']", "it replaces 'json' in sys.modules"),
        ("import sys\nsys.modules['no_such'] = None", "it replaces 'no_such' in sys.modules"),
        ("import sys\nsys.modules['json'] = object()", "it replaces 'json' in sys.modules"),
        ("import helpers", "for a file beside it write `from .helpers import …`"),
        ("\0", ".oracle/tools/a.py: "),
        ("x = 1", ".oracle/tools/a.py has no tool; put @oracle.tool above a function"),
        ("raise ValueError('password = \"hunter2hunter2\"')", "[redacted"),
    ],
)
def test_a_file_that_cannot_be_imported_costs_only_its_own_tools(tmp_path, text, problem):
    root = project_with(tmp_path / "p", tools__a=text, tools__b=TOOL)
    names, problems = loaded(root)
    assert names == ["search_tickets"]
    assert problem in problems[0]
    assert "hunter2" not in problems[0]
    assert "\n" not in problems[0]
    assert "has no tool" in problem or "the tools of .oracle/tools/a.py are missing" in problems[0]


def test_a_file_that_replaces_a_module_leaves_it_as_it_was(tmp_path):
    before = sys.modules["json"]
    text = "import sys\nsys.modules['json'] = None\nsys.modules['no_such'] = None"
    loaded(project_with(tmp_path / "p", tools__a=text))
    assert sys.modules["json"] is before
    assert "no_such" not in sys.modules


def test_a_tool_that_cannot_be_offered_is_named_and_the_others_stay(tmp_path):
    text = (
        "import oracle\nfrom typing import Self\n\n\n@oracle.tool\n"
        'def look(q: Self) -> str:\n    "Odd."\n    return "x"\n'
    )
    root = project_with(tmp_path / "p", tools__a=text, tools__b=TOOL)
    names, problems = loaded(root)
    assert names == ["search_tickets"]
    assert (
        "a.py:5: tool 'look': an argument has the type of the tool's own arguments" in problems[0]
    )


def test_a_wrong_tool_is_named_with_its_line(tmp_path):
    bad = 'import oracle\n\n\n@oracle.tool\ndef look(query):\n    "Look."\n'
    names, problems = loaded(project_with(tmp_path / "p", tools__a=bad))
    assert names == []
    assert "a.py:4: tool 'look': the argument 'query' has no type" in problems[0]


def test_an_import_that_hangs_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(importing, "SECONDS_TO_IMPORT", 0.05)
    slow = "import threading\nthreading.Event().wait(60)"
    names, problems = loaded(project_with(tmp_path / "p", tools__a=slow))
    assert names == []
    assert "a.py:2: TimeoutError: not done after 0.05 s; do slow work inside" in problems[0]


def test_an_import_that_prints_is_named_and_stdout_stays_clean(tmp_path, capsys):
    names, problems = loaded(project_with(tmp_path / "p", tools__a=f"{TOOL}\nprint('loud')"))
    assert names == ["search_tickets"]
    assert problems == [".oracle/tools/a.py prints while it is imported: 'loud'; remove the print"]
    assert capsys.readouterr().out == ""


def test_the_first_of_two_tools_of_one_name_is_used(tmp_path):
    names, problems = loaded(project_with(tmp_path / "p", tools__a=TOOL, tools__b=TOOL))
    assert names == ["search_tickets"]
    assert "b.py:6: tool 'search_tickets': " in problems[0]
    assert "a.py:6 has this name too; give another one with name=" in problems[0]


def test_the_name_of_a_built_in_tool_is_taken(tmp_path):
    text = TOOL.replace("def search_tickets", "def web_search")
    names, problems = loaded(project_with(tmp_path / "p", tools__a=text))
    assert names == []
    assert "a.py:6: tool 'web_search': a built-in tool has this name" in problems[0]


def test_an_imported_tool_belongs_to_the_file_that_defines_it(tmp_path):
    root = project_with(
        tmp_path / "p", tools__a=TOOL, tools__b=f"from .a import search_tickets\n{TOOL}"
    )
    assert len(loaded(root)[1]) == 1


# -- packages --------------------------------------------------------------------------------------


@pytest.fixture
def package(monkeypatch, tmp_path):
    """Installs a package with one entry point; its module has the tools."""

    def install(text, value="shop_tools", group="oracle.tools"):
        (tmp_path / "shop_tools.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        sys.modules.pop("shop_tools", None)
        point = EntryPoint(name="shop", value=value, group=group)
        monkeypatch.setattr(
            collecting, "installed", lambda kind: [point] if group == f"oracle.{kind}" else []
        )

    yield install
    sys.modules.pop("shop_tools", None)


@pytest.mark.parametrize("value", ["shop_tools", "shop_tools:search_tickets", "shop_tools:ALL"])
def test_a_package_offers_tools_by_its_entry_point(package, value):
    package(f"{TOOL}\nALL = [search_tickets]\n", value)
    own = load_tools(None, {})
    assert [(b.tool.name, b.place) for b in own.tools] == [("search_tickets", "entry point shop")]


@pytest.mark.parametrize(
    ("text", "value", "problem"),
    [
        ("1 / 0", "shop_tools", "entry point shop: shop_tools: ZeroDivisionError"),
        (TOOL, "shop_tools:other", "AttributeError: .*other.*; it is missing"),
        (TOOL, "missing_shop", "ModuleNotFoundError"),
        (f"{TOOL}\nx = 7", "shop_tools:x", "shop: shop_tools:x: .*'int': it is an int; make it"),
    ],
)
def test_a_broken_package_is_named(package, text, value, problem):
    package(text, value)
    own = load_tools(None, {})
    assert own.tools == ()
    with pytest.raises(AssertionError, match=problem):
        raise AssertionError(own.problems[0])


def test_a_package_offers_leaves(package):
    package("import sys\nsys.shop_was_here = True", group="oracle.leaves")
    assert load_leaves(None, {}).problems == ()
    assert sys.__dict__.pop("shop_was_here")


def test_functions_that_a_program_passes_come_first_and_must_be_right(tmp_path):
    def search_tickets(query: str):
        """Mine."""

    root = project_with(tmp_path / "p", tools__a=TOOL)
    trust_all(root)
    own = load_tools(root, {}, passed=[search_tickets])
    assert [b.tool.function for b in own.tools] == [search_tickets]
    assert "has this name too" in own.problems[0]
    with pytest.raises(InputError, match="has no type"):
        load_tools(root, {}, passed=[lambda query: query])
    with pytest.raises(InputError, match="has this name too"):
        load_tools(root, {}, passed=[search_tickets, oracle.tool(search_tickets)])


def test_a_tool_of_another_file_counts_once(tmp_path):
    shared = TOOL.replace("@oracle.tool\n", "").replace("search_tickets", "lookup")
    root = project_with(
        tmp_path / "p",
        tools___shared=shared,
        tools__a="import oracle\nfrom ._shared import lookup\n\nsearch_x = oracle.tool(lookup)\n",
        tools__b="from .a import search_x\n",
    )
    names, problems = loaded(root)
    assert (names, problems) == (["lookup"], [])


def test_a_relative_import_of_a_folder_says_that_there_is_none(tmp_path):
    root = project_with(tmp_path / "p", tools__a="from .sub.deep import x\n")
    assert "there is no sub.py beside it; folders are not searched" in loaded(root)[1][0]
