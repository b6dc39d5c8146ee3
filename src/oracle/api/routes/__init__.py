"""One file for each kind of thing that a client asks for."""
