"""Clips and pictures of the moments at which objects appear in the videos of a session."""
