"""Models in ONNX files: recognised, checked, and loaded."""
