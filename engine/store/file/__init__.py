"""The file of a session: locked while a run writes it, kept when a new run replaces it, found after a crash."""
