"""These tests need an NVIDIA GPU: they are skipped, with the reason, where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest


def _missing() -> str | None:
    if not Path("/proc/driver/nvidia/version").exists():
        return "no NVIDIA driver"
    try:
        from cuda.core import Device
    except ImportError as problem:
        return f"cuda-python is not installed: {problem}"
    return None if Device.get_all_devices() else "no CUDA device"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reason = _missing()
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("gpu")
            if reason is not None:
                item.add_marker(pytest.mark.skip(reason=reason))
