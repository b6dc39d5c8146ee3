"""What is stored: sessions, exchanges and runs, and the connections for journal and events."""
