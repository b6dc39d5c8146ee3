"""What the model is told first: segments, the tools on offer, and what it all costs in tokens."""
