"""Follows objects from frame to frame: detections get the numbers of tracks. NumPy, no device."""
