"""How settings are read: the kinds of values, the file, the variables, and the precedence."""
