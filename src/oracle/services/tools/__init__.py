"""What the model can have done: one file a tool, one registry."""
