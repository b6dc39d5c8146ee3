"""The terminal's door. Thin: parse, call one thing, render. Answers to stdout, the rest to stderr."""
