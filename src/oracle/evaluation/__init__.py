"""Labelled sets, simulated projects and models, and the measures taken on them."""
