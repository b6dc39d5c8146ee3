"""Files for editors, hooks and continuous integration agree with the Makefile and each other."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
HOOKS = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
CI = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
EDITOR = (ROOT / ".editorconfig").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PINNED = re.findall(
    r"^([\w.-]+)==(.+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE
)


def test_hooks_run_the_commands_of_make_lint_from_the_same_environment():
    (recipe,) = re.findall(r"^lint:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    linted = [line.strip().removesuffix(" .") for line in recipe.splitlines()]
    hooked = [
        entry.replace(".venv/bin", "$(BIN)").removesuffix(" --force-exclude")
        for entry in re.findall(r"^ +entry: (.*)$", HOOKS, re.MULTILINE)
    ]
    assert hooked == linted


def test_hooks_come_from_this_repository_and_pin_nothing():
    assert set(re.findall(r"repo: (\S+)", HOOKS)) == {"local"}
    assert "rev:" not in HOOKS
    assert "additional_dependencies" not in HOOKS


def test_only_the_constraints_name_the_version_of_a_package():
    for name, version in PINNED:
        for text in (HOOKS, CI, MAKEFILE):
            assert f"{name}=={version}" not in text
            assert not re.search(rf"\b{re.escape(name)}@", text)


def test_continuous_integration_runs_what_a_developer_can_run_and_has_no_secrets():
    assert re.findall(r"^ +- run: (.*)$", CI, re.MULTILINE) == [".ci/run"]
    assert "secrets." not in CI


def test_continuous_integration_takes_the_oldest_python_that_is_supported():
    (version,) = re.findall(r'python-version: "(.*)"', CI)
    assert PROJECT["project"]["requires-python"] == f">={version}"


def test_editors_wrap_python_where_ruff_does():
    (length,) = re.findall(r"^\[\*\.py\]\nmax_line_length = (\d+)$", EDITOR, re.MULTILINE)
    assert int(length) == PROJECT["tool"]["ruff"]["line-length"]


def rooms():
    """Each path in the table of CONTRIBUTING.md."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (table,) = re.findall(
        r"^\| folder in `src/oracle`.*\n\| -.*\n((?:\|.*\n)+)", page, re.MULTILINE
    )
    for row in table.splitlines():
        yield from re.findall(r"`([^`]+)`", row.split("|")[1])


def test_every_room_that_a_newcomer_is_shown_exists():
    for room in rooms():
        assert (ROOT / "src" / "oracle" / room).exists(), room


def test_no_room_is_left_out():
    folders = {path.name for path in (ROOT / "src" / "oracle").iterdir() if path.is_dir()}
    assert folders - {"__pycache__"} <= {room.split("/")[0] for room in rooms()}


def test_no_cancellation_is_lost_to_wait_for():
    """In Python 3.11 it swallows a cancellation that comes with the result. `asyncio.timeout` does
    not.
    """
    for path in (ROOT / "src").rglob("*.py"):
        assert "asyncio.wait_for(" not in path.read_text(encoding="utf-8"), path


def test_no_test_limits_the_seconds_of_a_clock():
    """A slow machine would fail it. `tests/timing.py` has limits that grow with the machine."""
    limit = re.compile(r"(?:_time|monotonic|perf_counter)\(\) - \w+ <")
    tests = [path for path in (ROOT / "tests").rglob("*.py") if path.name != "test_habits.py"]
    found = [str(path) for path in tests if limit.search(path.read_text(encoding="utf-8"))]
    assert found == []
