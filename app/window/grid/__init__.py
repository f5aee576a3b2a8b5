"""Several videos beside each other, in step."""
