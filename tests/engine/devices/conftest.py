from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def recordings(data: Path) -> Path:
    """The folder with recordings of other machines, beside the folder with models and videos."""
    folder = data.parent / "device" / "recordings"
    if not folder.is_dir():
        pytest.skip(f"needs the recording of a machine with eight GPUs in {folder}")
    return folder
