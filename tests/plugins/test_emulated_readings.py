"""The tests of ``tests/gpu/test_readings.py`` without a device: the kernels' code runs on the CPU."""

from __future__ import annotations

import pytest

pytest.importorskip("cuda.core")

from tests.gpu.test_readings import *  # noqa: F403
