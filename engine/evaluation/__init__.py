"""Compares stored detections with true objects."""
