"""What a run remembers: the status of each node and the values on its blackboard."""
