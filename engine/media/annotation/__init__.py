"""Drawing detections into pictures, and writing annotated videos."""
