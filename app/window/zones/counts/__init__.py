"""Counts the tracks of files at lines and in zones, and shows how the counts grow over time."""
