"""One file a command: parse, call one thing, print."""
