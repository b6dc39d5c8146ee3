"""What a recorded run decided, and what it would decide with another tree, prompt or setting."""
