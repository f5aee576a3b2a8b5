"""Meshes, the pinhole camera and the rasterizer."""
