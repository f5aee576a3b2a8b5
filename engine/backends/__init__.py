"""One file per inference library."""

import sys

from engine.backends.create import create_backend, create_depth_backend

# Importing openvino imports this converter, whose import reports to an analytics server. It is not needed here, and
# openvino does without it; nobody's computer calls anywhere because it detects objects.
sys.modules.setdefault("openvino.tools.ovc", None)  # type: ignore[arg-type]

__all__ = ["create_backend", "create_depth_backend"]
