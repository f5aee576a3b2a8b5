"""Inference with OpenVINO."""

import sys

# Importing openvino imports this converter, whose import reports to an analytics server. OpenVINO works without it.
sys.modules.setdefault("openvino.tools.ovc", None)  # type: ignore[arg-type]
