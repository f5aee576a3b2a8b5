"""A Darknet model read into one ``Network``, and what leads there."""
