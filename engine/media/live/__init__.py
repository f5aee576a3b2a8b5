"""Live sources: their addresses, the capture process that reads one, and what it sends."""
