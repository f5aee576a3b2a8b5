"""The list of the stored sessions."""
