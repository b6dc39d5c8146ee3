"""Answers a developer's questions about a project; a behavior tree keeps the model honest."""
