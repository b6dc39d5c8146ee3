"""The entities: frozen data without I/O. They import no other part of oracle."""
