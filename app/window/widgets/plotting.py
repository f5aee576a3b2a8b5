"""Imports pyqtgraph without its use of CUDA."""

from __future__ import annotations

import sys

# Hides CUDA from pyqtgraph, which would load the driver's library for a widget that is not used here.
_loaded = sys.modules.get("cuda.bindings")
sys.modules["cuda.bindings"] = None  # type: ignore[assignment]
try:
    import pyqtgraph as pg
finally:
    del sys.modules["cuda.bindings"]
    if _loaded is not None:
        sys.modules["cuda.bindings"] = _loaded

__all__ = ["pg"]
