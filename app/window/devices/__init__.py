"""The panel that shows the devices of a run."""
