"""What a question asks for: the words to search by, and whether it wants all, uses or reasons."""
