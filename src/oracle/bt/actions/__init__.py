"""Leaves that do something, grouped by concern."""
