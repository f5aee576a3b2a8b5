"""Backends: one folder for each inference library."""

from framefleet.engine.backends.create import create_backend, create_depth_backend

__all__ = ["create_backend", "create_depth_backend"]
