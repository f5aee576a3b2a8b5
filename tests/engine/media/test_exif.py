"""When a picture was taken, from EXIF data that Pillow writes as cameras do."""

from __future__ import annotations

import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest
from PIL import ExifTags, Image

from framefleet.engine.media.cpu_decoding import decode
from framefleet.engine.media.exif import time_taken
from framefleet.engine.media.probe import probe
from framefleet.engine.media.types import DecodedFrame
from tests.support.media import dated_picture

TAG = ExifTags.Base
TIME = "2026:11:01 08:00:00"


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "MPO"])
def test_kinds_of_pictures_that_have_exif_data(form: str) -> None:
    assert time_taken(dated_picture({TAG.DateTimeOriginal: TIME}, form)) == "2026-11-01T08:00:00"


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ({}, None),
        ({TAG.DateTimeOriginal: TIME, TAG.SubsecTimeOriginal: "25 ", TAG.OffsetTimeOriginal: "+01:00"}, "2026-11-01T08:00:00.25+01:00"),
        ({TAG.DateTimeOriginal: TIME, TAG.DateTimeDigitized: "2027:01:01 00:00:00"}, "2026-11-01T08:00:00"),
        ({TAG.DateTimeDigitized: TIME, TAG.OffsetTimeOriginal: "+01:00"}, "2026-11-01T08:00:00"),
        ({TAG.DateTimeOriginal: "    :  :     :  :  ", TAG.DateTimeDigitized: TIME}, "2026-11-01T08:00:00"),
        ({TAG.DateTimeOriginal: "0000:00:00 00:00:00", TAG.DateTimeDigitized: TIME}, "2026-11-01T08:00:00"),
        ({TAG.DateTimeOriginal: TIME, TAG.SubsecTimeOriginal: "x"}, "2026-11-01T08:00:00"),
        ({TAG.DateTimeOriginal: "2026:11:01"}, None),
        ({TAG.DateTimeOriginal: "2026:13:01 08:00:00", TAG.DateTimeDigitized: TIME}, "2026-11-01T08:00:00"),
        ({TAG.DateTimeOriginal: "1970:01:01 00:00:00", TAG.DateTimeDigitized: TIME}, "2026-11-01T08:00:00"),
        ({TAG.DateTimeOriginal: "2026/11/01  08:00:00"}, "2026-11-01T08:00:00"),
        *(
            ({TAG.DateTimeOriginal: TIME, TAG.OffsetTimeOriginal: offset}, f"2026-11-01T08:00:00{expected}")
            for offset, expected in (("   :  ", ""), ("UTC", ""), ("+25:00", ""), ("+5:30", "+05:30"), ("-0330", "-03:30"), ("z", "+00:00"))
        ),
    ],
)
def test_the_text_is_made_from_the_tags_of_one_time(tags: dict[int, str], expected: str | None) -> None:
    assert time_taken(dated_picture(tags)) == expected


def test_the_time_when_the_file_was_changed_is_not_used() -> None:
    exif = Image.Exif()
    exif[TAG.DateTime] = TIME
    file = BytesIO()
    Image.new("RGB", (8, 8)).save(file, "JPEG", exif=exif)
    assert time_taken(file.getvalue()) is None


DAMAGED = """
import sys
import numpy as np
from framefleet.engine.media.exif import time_taken
whole, dice = sys.stdin.buffer.read(), np.random.default_rng(1)
for _ in range(300):
    content = bytearray(whole)
    for place in dice.integers(0, 200, 3).tolist():
        content[place] = int(dice.integers(0, 256))
    found = time_taken(bytes(content[: int(dice.integers(1, len(content) + 1))]))
    assert found is None or isinstance(found, str)
"""


def test_damaged_data_cause_neither_errors_nor_warnings() -> None:
    """In a process of its own, because pytest collects warnings."""
    whole = dated_picture({TAG.DateTimeOriginal: TIME, TAG.OffsetTimeOriginal: "+01:00"})
    run = subprocess.run([sys.executable, "-c", DAMAGED], input=whole, capture_output=True, timeout=60, check=False)
    assert (run.returncode, run.stderr) == (0, b"")


def test_decoding_a_folder_reads_the_times(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(dated_picture({TAG.DateTimeOriginal: TIME}))
    (tmp_path / "b.jpg").write_bytes(dated_picture({}))
    info = probe(tmp_path)
    frames = [frame for frame in decode(info, info.segments[0]) if isinstance(frame, DecodedFrame)]
    assert [frame.ref.created for frame in frames] == ["2026-11-01T08:00:00", None]
