"""Plays a file: the preview process, the next pictures, their detections and the clock. No widgets."""
