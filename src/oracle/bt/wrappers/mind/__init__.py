"""What can be seen of a run while it thinks: its tree, each change of a node, and why."""
