"""The panel that shows each device at work."""
