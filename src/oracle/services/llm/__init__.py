"""Language models: one protocol, the providers' models, and their errors."""
