"""Cameras and streams: opening one, its live picture and its state."""
