import pytest

from framefleet.app.window.widgets import formats


@pytest.mark.parametrize(
    ("seconds", "decimals", "text"),
    [
        (0, 0, "0:00"),
        (7.96, 0, "0:07"),
        (7.96, 1, "0:07.9"),
        (725, 0, "12:05"),
        (3729.4, 1, "1:02:09.4"),
        (-1, 0, "0:00"),
    ],
)
def test_a_clock_is_cut_not_rounded(seconds: float, decimals: int, text: str) -> None:
    assert formats.clock(seconds, decimals) == text


def test_a_pts_just_below_a_tenth_because_of_its_float_reads_as_that_tenth() -> None:
    assert formats.clock(0.1 + 0.2, decimals=1) == "0:00.3"
    assert formats.clock(2.9999999999, decimals=1) == "0:03.0"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "0 s"), (59.4, "59 s"), (61, "1 min"), (3541, "59 min"), (3600, "1 h 00 min"), (7500, "2 h 05 min")]
)
def test_remaining_time(seconds: float, text: str) -> None:
    assert formats.remaining(seconds) == text


@pytest.mark.parametrize(("value", "text"), [(0.42, "0.42"), (0.996, "1.0"), (9.74, "9.7"), (99.96, "100"), (1234.4, "1,234")])
def test_rates_keep_three_places(value: float, text: str) -> None:
    assert formats.rate(value) == text
    assert formats.milliseconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0.84, "0.84"), (9999.0, "9,999"), (16_164.0, "16.2 s"), (179_575.0, "180 s"), (999_500.0, "17 min")],
)
def test_long_latencies_fit_narrow_columns(value: float | None, text: str) -> None:
    assert formats.short_latency(value) == text


def test_only_the_finished_reads_a_hundred_percent() -> None:
    assert [formats.percent(share) for share in (0.0, 0.29, 0.999, 1.0, 2.0)] == ["0 %", "29 %", "99 %", "100 %", "100 %"]


def test_a_part_is_rounded_and_never_nothing_unless_it_is() -> None:
    assert [formats.part(share) for share in (0.0, 0.001, 0.333, 0.666, 1.0)] == ["0 %", "< 1 %", "33 %", "67 %", "100 %"]


def test_plurals() -> None:
    assert [formats.plural(1, "file"), formats.plural(1200, "file"), formats.plural(2, "class")] == [
        "1 file",
        "1,200 files",
        "2 classes",
    ]
    assert formats.milliseconds(None) == formats.DASH


def test_more_things_than_qt_can_count() -> None:
    most = 2**31 - 1
    assert [formats.plural(count, "frame") for count in (most, most + 1, 10**12)] == [
        "2,147,483,647 frames",
        "2,147,483,648 frames",
        "1,000,000,000,000 frames",
    ]


def test_only_names_that_no_line_could_break_are_cut() -> None:
    path = "/videos/" + "/".join(["a folder"] * 20) + "/clip.mp4 is empty"
    assert formats.shortened(path) == path
    assert formats.shortened(f"/videos/{'a' * 40}{'b' * 40}.mp4 is empty") == f"/videos/{'a' * 24}…{'b' * 20}.mp4 is empty"
