"""The desktop window: the queue of files, the video with its boxes, and the devices."""
