"""Darknet models: cfg and weights become a ``Network``."""
