from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import PurePath
from zoneinfo import ZoneInfo

import pytest

from framefleet.engine.notices import UsageError
from framefleet.engine.settings.clock import ClockSettings, ClockSource, ClockTime, TimeZone, time_in_metadata, time_in_name

EIGHT = datetime(2026, 11, 1, 8, 0, 0)
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cam_20261101_080000.mp4", EIGHT),
        ("20261101080000.mp4", EIGHT),
        ("2026-11-01 08-00-00.mkv", EIGHT),
        ("2026-11-01T08:00:00.mkv", EIGHT),
        ("2026.11.01_08.00.00_gate.ts", EIGHT),
        ("north 2026-11-01 08-00.mp4", EIGHT),
        ("2026-11-01_08h00m00s.avi", EIGHT),
        ("VID_20261101_080000250.mp4", EIGHT.replace(microsecond=250_000)),
        ("20261101_080000-20261101_090000.mp4", EIGHT),
        ("20261101T080000Z.mp4", EIGHT.replace(tzinfo=UTC)),
        ("20261101T080000+0530.mp4", EIGHT.replace(tzinfo=timezone(timedelta(hours=5, minutes=30)))),
        ("WhatsApp Image 2026-11-01 at 08.00.00.jpeg", EIGHT),
        ("20261101_0001.mp4", None),  # a counter
        ("20261101.mp4", None),
        ("20261301_080000.mp4", None),  # no month 13
        ("20261101_250000.mp4", None),
        ("00010101_080000.mp4", None),
        ("1202611010800001.mp4", None),  # part of a longer number
        ("clip.mp4", None),
        ("20269999_080000 20261101_080000.mp4", EIGHT),
    ],
)
def test_times_in_names(name: str, expected: datetime | None) -> None:
    assert time_in_name(name) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-01T08:00:00.000000Z", EIGHT.replace(tzinfo=UTC)),
        ("2026-11-01T09:00:00+0100", EIGHT.replace(tzinfo=UTC)),
        ("2026-11-01 08:00:00", EIGHT),
        ("2026:11:01 08:00:00", EIGHT),
        ("Sun Nov 01 08:00:00 2026", EIGHT),
        ("1904-01-01T00:00:00.000000Z", None),
        ("1970-01-01T00:00:00.000000Z", None),
        ("1980-01-01 00:00:00", None),
        ("2026-11-01", None),
        ("2026", None),
        ("2026-11-01T08:00:00.000000Z and more", None),
        ("", None),
    ],
)
def test_times_in_metadata(text: str, expected: datetime | None) -> None:
    assert time_in_metadata(text) == expected


def test_a_time_without_zone_gets_the_chosen_one_and_others_keep_theirs() -> None:
    path = PurePath("20260701_080000.mp4")
    assert ClockSettings(ClockSource.NAME, BERLIN).started(path, None) == datetime(2026, 7, 1, 6, tzinfo=UTC)
    assert ClockSettings(ClockSource.METADATA, BERLIN).started(path, "2026-11-01T08:00:00Z") == EIGHT.replace(tzinfo=UTC)
    local = ClockSettings(ClockSource.NAME).started(path, None)
    assert local is not None
    assert local.tzinfo is not None
    assert local.replace(tzinfo=None) == datetime(2026, 7, 1, 8)


def test_what_is_missing_is_unknown() -> None:
    path = PurePath("20260701_080000.mp4")
    assert ClockSettings().started(path, "2026-11-01T08:00:00Z") is None
    assert ClockSettings(ClockSource.METADATA).started(path, None) is None
    assert ClockSettings(ClockSource.NAME).started(PurePath("a.mp4"), "2026-11-01T08:00:00Z") is None


def test_values_of_the_settings() -> None:
    assert ClockTime().read("name") is ClockSource.NAME
    assert ClockTime().read("2026-11-01 08:00") == EIGHT
    assert ClockTime().read("2026-11-01T08:00:00+00:00") == EIGHT.replace(tzinfo=UTC)
    for text in ("now", "2026-11-01", "08:00", "2026-11-31 08:00"):
        with pytest.raises(UsageError, match="write name, metadata, or when the file began"):
            ClockTime().read(text)
    assert TimeZone().read("Europe/Berlin") == BERLIN
    for text in ("Berlin", "../etc/passwd", "", "+01:00"):
        with pytest.raises(UsageError, match="write its name"):
            TimeZone().read(text)
