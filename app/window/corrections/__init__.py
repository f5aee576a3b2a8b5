"""Correcting detections and tracks in the window."""
