"""Cover a broad question: find its parts, read them, and show the model what matters."""
