"""Notices, and reports of unexpected errors."""
