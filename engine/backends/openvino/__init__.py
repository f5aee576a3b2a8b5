"""Inference with OpenVINO."""
