"""Labelled sets of questions, and the measurements on them."""
