"""Behavior trees: an engine, the leaves that use it, and trees written for it in Lua."""
