"""The web: safe fetching of pages, and search through a provider."""
