"""Trees as Lua files: a sandbox to run them in, expressions, and a library that reloads."""
