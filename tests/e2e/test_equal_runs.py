"""Runs of the same sources write equal files, byte for byte, in every format: whatever the strategy, and except for the device's name."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from framefleet.engine.store.exporters import EXPORTERS
from tests.support.cli import TINY, run_main
from tests.support.media import make_video, write_pictures

FORMATS = ",".join(name for name in EXPORTERS if name != "zones")  # they need lines and zones


def files(folder: Path) -> dict[str, bytes]:
    """The results in a folder, without the session."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".sqlite"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A video with keyframes, so that there are several segments, and a folder of pictures."""
    folder = tmp_path_factory.mktemp("runs")
    make_video(folder / "a_20261101_080000.mp4", 30, (96, 64), rate=25, gop=10)
    write_pictures(folder / "trap", 3, (96, 64))
    return folder


def detected(folder: Path, out: str, devices: str, strategy: str) -> dict[str, bytes]:
    """Detect, and return the written files."""
    choice = ("--devices", devices, "--parallel", strategy, "--track", "bytetrack", "--clock", "name", "--time-zone", "UTC")
    sources = (folder / "a_20261101_080000.mp4", folder / "trap")
    options = ("--confidence", "0.05", "--format", FORMATS, "--pictures", "png", "--out", folder / out, "--quiet")
    run = run_main("detect", *sources, *TINY, "--precision", "fp32", *choice, *options)
    assert run.status == 0, run.err
    return files(folder / out)


@pytest.fixture(scope="module")
def first(folder: Path) -> dict[str, bytes]:
    return detected(folder, "first", "cpu:0", "streams")


def test_every_format_has_content(first: dict[str, bytes]) -> None:
    assert b'"detections": [{' in first["a_20261101_080000.jsonl"]
    assert {Path(name).suffix for name in first} == {".jsonl", ".csv", ".parquet", ".json", ".xml", ".mp4", ".txt", ".ini", ".yaml", ".png"}


@pytest.mark.parametrize("strategy", ["segments"])
def test_another_run_writes_the_same_bytes(folder: Path, first: dict[str, bytes], strategy: str) -> None:
    other = detected(folder, f"again-{strategy}", "cpu:0", strategy)
    assert other.keys() == first.keys()
    assert [name for name in first if first[name] != other[name]] == []


@pytest.mark.slow  # tests/engine/pool/groups/test_frames.py compares the frames of two devices
@pytest.mark.parametrize("strategy", ["frames"])
def test_two_devices_write_the_same_but_for_their_names(folder: Path, first: dict[str, bytes], strategy: str) -> None:
    """Which device takes a frame depends on time. Parquet is compared as a table because it is compressed."""
    other = detected(folder, f"two-{strategy}", "cpu:0,cpu:1", strategy)
    assert other.keys() == first.keys()
    for name, content in first.items():
        if name.endswith(".parquet"):
            tables = [pq.read_table(BytesIO(data)).drop_columns("device") for data in (content, other[name])]
            assert tables[0].equals(tables[1])
        else:
            assert content == re.sub(rb"cpu:0\+cpu:1|cpu:1", b"cpu:0", other[name]), name
