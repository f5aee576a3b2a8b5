"""Runs in the process of a device: decode threads, batching, inference and results."""
