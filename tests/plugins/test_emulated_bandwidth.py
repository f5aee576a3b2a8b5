"""The tests of ``tests/gpu/test_bandwidth.py`` without a device, as ``test_emulated`` runs those of the layers."""

from __future__ import annotations

import pytest

pytest.importorskip("cuda.core")

from tests.gpu.test_bandwidth import *  # noqa: F403
