"""Darknet models: loads cfg and weight files into a ``Network``, exports, splits and downloads models."""
