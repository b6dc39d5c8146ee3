"""The files of a project: its root, which files are left out, and what is secret."""
