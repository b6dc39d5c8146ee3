"""Events: what happened, delivered to subscribers and stored in the `events` table."""
