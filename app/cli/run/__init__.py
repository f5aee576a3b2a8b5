"""Shared by commands that run for a while: progress, interruption and the files of results."""
