"""The HTTP door: routes that parse a request, call one thing, and render chunks."""
