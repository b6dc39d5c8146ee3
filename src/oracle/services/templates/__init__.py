"""Named questions with placeholders, in files of the project and of the user."""
