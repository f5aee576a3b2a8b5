"""Reports and charts for people."""
