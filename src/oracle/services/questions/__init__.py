"""What a question asks for: its search words, and whether it wants everything, uses or reasons."""
