"""The desktop window: files in, boxes over the picture, devices at work."""
