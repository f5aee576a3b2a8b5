"""Everything that knows a person: the window and the command line."""
