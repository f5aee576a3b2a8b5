"""The search over all stored results."""
