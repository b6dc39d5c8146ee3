"""The web: pages fetched with care, and the providers that search it."""
