"""A small sentence model (MiniLM) as a second opinion; needs the extra `bert`.

The heuristics decide without it, and whenever it is missing, broken or slow.
"""
