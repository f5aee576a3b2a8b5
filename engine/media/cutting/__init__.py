"""Takes clips and single pictures out of videos."""
