"""Runs that one process asks for and another works on: a queue, commands, and streams."""
