"""Choosing, downloading and checking models."""
