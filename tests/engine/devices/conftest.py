from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def recordings(data: Path) -> Path:
    """The folder with what was recorded on other machines, beside the one with models and videos."""
    folder = data.parent / "device" / "recordings"
    if not folder.is_dir():
        pytest.skip(f"no recordings in {folder}")
    return folder
