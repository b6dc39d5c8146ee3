"""Answers in editors, over the Agent Client Protocol on stdin and stdout."""
