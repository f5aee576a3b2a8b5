"""From pictures to network inputs and from raw outputs to detections, with NumPy."""
