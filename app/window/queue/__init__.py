"""The list of files, and how files enter it."""
