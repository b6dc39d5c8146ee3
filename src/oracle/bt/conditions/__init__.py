"""Leaves that look at the state of a run, grouped by concern."""
