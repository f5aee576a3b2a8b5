"""The panel that draws how devices are connected."""
