"""What the tree bases its decisions on: budgets, grants, evidence, repetition and topic."""
