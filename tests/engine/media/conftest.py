"""Clips that are created once and shared by all tests of a session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.media import make_video

Clip = Callable[..., Path]


@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Clip:
    """``make_video`` with a cache: the same name and options return the same file."""
    folder = tmp_path_factory.mktemp("clips")
    made: dict[str, Path] = {}

    def make(name: str, **options: object) -> Path:
        key = repr((name, sorted(options.items())))
        if key not in made:
            made[key] = make_video(folder / f"{len(made)}-{name}", **{"size": (96, 64), **options})  # type: ignore[arg-type]
        return made[key]

    return make
