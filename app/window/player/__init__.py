"""Plays a file: the preview process, the next pictures, their detections, the clock and the sound. No widgets."""
