"""The list of events of the shown file."""
