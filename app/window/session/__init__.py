"""A detection session as the window drives it."""
