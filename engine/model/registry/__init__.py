"""Models that can be downloaded by name: list, download, checks."""
