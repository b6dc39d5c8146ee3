"""Stores sessions, exchanges and runs, and connects journal and events to the database."""
