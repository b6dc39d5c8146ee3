"""What outlives a process: sessions, exchanges, runs, journal, events; SQLite or PostgreSQL."""
