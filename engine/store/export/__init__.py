"""Exports a session: which files, where, and without harming other files."""
