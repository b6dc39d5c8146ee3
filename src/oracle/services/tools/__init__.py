"""The tools that a model can call: one file for each tool, and one table of all."""
