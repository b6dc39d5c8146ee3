"""Tools and leaves that a user writes: in a project, in a package, or passed to `Oracle`."""
