"""What the user attaches to a question: files, lines of files, and a diff."""
