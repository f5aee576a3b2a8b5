"""Frames of a scene: a static background, and what moves drawn over it."""
