"""Events of a run, delivered to subscribers and stored in the `events` table."""
