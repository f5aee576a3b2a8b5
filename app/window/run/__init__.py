"""A detection run as the window drives it."""
