"""What the tree decides by: budgets, grants, evidence, repetition, topic."""
