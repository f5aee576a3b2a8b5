"""Inference with TensorRT or TensorRT for RTX."""
