"""How a tree is defined and run: nodes, leaves, definitions, the context of a tick, the runtime."""
