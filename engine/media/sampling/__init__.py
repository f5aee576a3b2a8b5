"""Sampling: which frames of a video are wanted, and decoding of these only."""
