"""Options of commands: their parsers, and how their values are read."""
