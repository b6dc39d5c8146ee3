"""The system prompt: its segments, the list of tools, and estimates of their tokens."""
