"""Signals: taken out of a model's text as it streams, and read."""
