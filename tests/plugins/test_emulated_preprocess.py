"""The tests of ``tests/gpu/test_preprocess.py`` without a device: the kernel's code runs on the CPU."""

from __future__ import annotations

import pytest

pytest.importorskip("cuda.core")

from tests.gpu.test_preprocess import *  # noqa: F403
