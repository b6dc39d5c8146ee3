"""Trees as Lua files: a sandbox to run them in, a grammar for expressions, a library that reloads."""
