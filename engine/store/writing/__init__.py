"""Writes sessions, also on top of what an interrupted run stored."""
