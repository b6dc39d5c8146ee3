"""Choose the lines that answer a question, and how much to quote around them."""
