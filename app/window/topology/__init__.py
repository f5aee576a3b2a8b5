"""The panel that shows how devices are connected."""
