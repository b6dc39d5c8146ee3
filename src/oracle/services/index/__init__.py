"""The index of a project: text on tantivy, definitions and references in SQLite."""
