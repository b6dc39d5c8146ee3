"""The index of a project: tantivy holds its text, SQLite its files, definitions and uses.

Each name is imported when it is first used: the process that runs grammars needs none of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oracle.services.search.index import Index as Index
    from oracle.services.search.records import Definition as Definition
    from oracle.services.search.records import Hit as Hit
    from oracle.services.search.records import Kind as Kind
    from oracle.services.search.records import Reference as Reference
    from oracle.services.search.records import RefreshReport as RefreshReport

__all__ = ["Definition", "Hit", "Index", "Kind", "Reference", "RefreshReport"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "index" if name == "Index" else "records"
    return getattr(import_module(f"{__name__}.{module}"), name)
