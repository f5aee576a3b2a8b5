"""Draws lines, zones and tracks over the picture. The mouse and keys change lines and zones there."""
