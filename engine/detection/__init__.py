"""Preprocessing of pictures, postprocessing of raw outputs to detections, tiling, and accuracy."""
