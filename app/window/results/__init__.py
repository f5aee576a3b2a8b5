"""Stored results: opening and exporting them."""
