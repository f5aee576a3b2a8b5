from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framefleet.engine.store.sources import exact_name, readable_name, source_names


@given(st.binary(min_size=1).map(os.fsdecode) | st.text("\\x5CE4e\udce4ä", min_size=1))
def test_a_name_becomes_valid_text_and_can_be_recovered(name: str) -> None:
    text = readable_name(name)
    assert json.loads(json.dumps(text).encode("utf-8")) == text
    assert exact_name(text) == name


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("straße 東京 🎬.mp4", "straße 東京 🎬.mp4"),
        ("gr\udce4n.mp4", r"gr\xE4n.mp4"),
        (r"a\b.mp4", r"a\b.mp4"),
        (r"a\xE4.mp4", r"a\x5CxE4.mp4"),
    ],
)
def test_how_names_are_written(name: str, text: str) -> None:
    assert readable_name(name) == text


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["/v/a.mp4", "/v/b.mp4"], ["a.mp4", "b.mp4"]),
        (["/v/1/a.mp4", "/v/2/a.mp4", "/v/b.mp4"], ["1/a.mp4", "2/a.mp4", "b.mp4"]),
        (["/1/v/a.mp4", "/2/v/a.mp4", "/3/a.mp4"], ["1/v/a.mp4", "2/v/a.mp4", "3/a.mp4"]),
        (["/a.mp4", "/v/a.mp4"], ["/a.mp4", "v/a.mp4"]),
        (["/v/a.mp4", "/v/w/../a.mp4", "/v/a.avi"], ["a.mp4", "a.mp4", "a.avi"]),
        (["/v/1/x/..", "/w/1"], ["v/1", "w/1"]),
        ([], []),
    ],
)
def test_sources_with_the_same_base_name_are_told_apart(files: list[str], names: list[str]) -> None:
    assert source_names([Path(file) for file in files]) == names
