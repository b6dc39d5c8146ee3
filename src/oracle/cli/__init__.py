"""The command line: parse, call one thing, print. Answers go to stdout, all else to stderr."""
