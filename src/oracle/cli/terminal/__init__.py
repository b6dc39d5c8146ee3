"""How commands use a terminal or a pipe: what they print, and what they read."""
