"""The files of a project: where it begins, what is left out, what stays secret."""
