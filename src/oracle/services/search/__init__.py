"""The index of a project: text on tantivy, definitions and references in SQLite."""

from oracle.services.search.index import Index
from oracle.services.search.records import Definition, Hit, Kind, Reference, RefreshReport

__all__ = ["Definition", "Hit", "Index", "Kind", "Reference", "RefreshReport"]
