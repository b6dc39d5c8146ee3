"""Which of the quoted lines answer a question, and how much to quote around them."""
