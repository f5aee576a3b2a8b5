"""pyqtgraph without CUDA: it would load the driver's library, where there is one, for a widget that is not used here."""

from __future__ import annotations

import sys

_UNWANTED = "cuda.bindings"

_loaded = sys.modules.get(_UNWANTED)
sys.modules[_UNWANTED] = None  # type: ignore[assignment]
try:
    import pyqtgraph
finally:
    if _loaded is None:
        del sys.modules[_UNWANTED]
    else:
        sys.modules[_UNWANTED] = _loaded

__all__ = ["pyqtgraph"]
