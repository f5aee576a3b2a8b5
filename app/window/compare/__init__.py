"""The comparison of two stored results of a video."""
