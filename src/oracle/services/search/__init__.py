"""The index of a project: tantivy holds its text, SQLite its files, definitions and uses."""

from oracle.services.search.index import Index
from oracle.services.search.records import Definition, Hit, Kind, Reference, RefreshReport

__all__ = ["Definition", "Hit", "Index", "Kind", "Reference", "RefreshReport"]
