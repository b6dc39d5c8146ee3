"""What a newcomer asks about a project as a whole, and the lines of it that answer."""
