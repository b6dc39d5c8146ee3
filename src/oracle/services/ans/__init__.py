"""Events: what happened, told to whoever listens and kept in the `events` table."""
