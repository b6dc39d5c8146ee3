"""Ways to run a tree for the outside."""
