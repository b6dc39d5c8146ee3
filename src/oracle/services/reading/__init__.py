"""Reading by words alone: what a question asks for, and which of the quoted lines answer it."""
