"""The terminal's door: parse, call one thing, render. Answers to stdout, the rest to stderr."""
