"""Frames of a scene: a static background with the actors drawn over it."""
