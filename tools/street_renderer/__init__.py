"""Renders street scenes with exact ground truth, for the demo clip and for data sets, and trains the demo model on them."""
