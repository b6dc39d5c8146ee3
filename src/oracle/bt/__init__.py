"""Behavior trees: an engine, the leaves that use it, and the trees that are written for it in Lua."""
