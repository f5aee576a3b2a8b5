"""Renders street scenes with exact ground truth, makes the demo clip and data sets from them, and trains the demo model."""
