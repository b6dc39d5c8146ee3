"""How `query_classifier` decides: a reading of the text, evidence from it, and a linear model."""
