"""The tests of ``tests/gpu/test_channels_last.py`` without a device: the kernels' code run by the CPU."""

from __future__ import annotations

import pytest

pytest.importorskip("cuda.core")

from tests.gpu.test_channels_last import *  # noqa: F403
