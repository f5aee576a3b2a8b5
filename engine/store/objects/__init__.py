"""What a session says about objects rather than frames: when they appear, and what a person corrected."""
