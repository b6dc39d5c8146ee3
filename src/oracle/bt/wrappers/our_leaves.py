"""The leaves that ship with oracle, registered by importing them."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Final

PACKAGES: Final = ("oracle.bt.actions", "oracle.bt.conditions")


@cache
def import_our_leaves() -> None:
    for package in PACKAGES:
        for found in pkgutil.iter_modules(importlib.import_module(package).__path__):
            importlib.import_module(f"{package}.{found.name}")
