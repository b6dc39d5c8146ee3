"""Run every benchmark, or those whose names are given: `python -m benchmarks engine`."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import benchmarks

HELPERS = {"__main__", "contestants", "measure"}


def main(wanted: list[str]) -> None:
    names = [module.name for module in pkgutil.iter_modules(benchmarks.__path__)]
    for name in wanted or [name for name in names if name not in HELPERS]:
        print(name)
        importlib.import_module(f"benchmarks.{name}").run()


main(sys.argv[1:])
