"""Lines and zones over a picture, and the counting of tracks at them. NumPy, no device."""
