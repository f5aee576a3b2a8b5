"""Assigns frames to devices: dispatcher, throughput, work stealing, strategies."""
