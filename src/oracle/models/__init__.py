"""The entities: frozen data, no I/O, nothing of ours imported."""
