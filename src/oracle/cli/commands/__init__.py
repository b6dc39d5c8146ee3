"""The commands: each parses its options, calls one thing and prints the result."""
