"""The session database and the exporters."""
