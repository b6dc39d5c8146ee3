"""What starting costs: the CPU time of a whole command, in a process of its own.

CPU time, because wall time depends on what else the machine does. The median of several processes,
because the first one also fills the caches of the operating system.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.index import plant
from benchmarks.measure import report

PROCESSES = 7
FILES = 200
QUESTION = "where is the timeout of a request decided?"
COMMANDS: dict[str, tuple[list[str], float]] = {
    "--help": (["--help"], 0.15),
    "--version": (["--version"], 0.15),
    "ask --help": (["ask", "--help"], 0.15),
    "completion in the shell": ([], 0.15),
    "classify": (["classify", QUESTION], 0.19),
    "config": (["config"], 0.23),
    "runs": (["runs"], 0.27),
    "search": (["search", QUESTION], 0.35),
    f"ask, embedded, warm index of {FILES} files": (["ask", "--model", "embedded", QUESTION], 0.7),
}
COMPLETING = {"_ORACLE_COMPLETE": "complete_bash", "COMP_WORDS": "oracle as", "COMP_CWORD": "1"}


def run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        project, home = Path(folder, "project"), Path(folder, "home")
        (project / ".git").mkdir(parents=True)
        home.mkdir()
        plant(project, FILES)
        environment = _environment(home, Path(folder, "bytecode"))
        for name, (arguments, most) in COMMANDS.items():
            added = {} if arguments else COMPLETING
            spent = cpu_of(arguments, project, {**environment, **added})
            goal = f"< {most} s ({spent / most:.2f} of it)"
            report(name, f"{spent:.3f} s of CPU", goal, spent < most)


def _environment(home: Path, bytecode: Path) -> dict[str, str]:
    """As on a user's machine: bytecode is kept, and there are no settings yet."""
    unwanted = ("ORACLE_", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
    return kept | {"HOME": str(home), "PYTHONPYCACHEPREFIX": str(bytecode)}


def cpu_of(arguments: Sequence[str], project: Path, environment: Mapping[str, str]) -> float:
    """The median CPU time of the command; one more process before that warms the caches."""
    spent = [_process(arguments, project, environment) for _ in range(PROCESSES + 1)]
    return statistics.median(spent[1:])


def _process(arguments: Sequence[str], project: Path, environment: Mapping[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(
        [sys.executable, "-c", "from oracle.cli.main import run; run()", *arguments],
        cwd=project,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    # Whether the answer is sure (0) or not (3) depends on the packages that were planted.
    if ended.returncode not in (0, 3):
        ended.check_returncode()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
