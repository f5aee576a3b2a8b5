"""The table of settings, the values made from it, and what cannot be combined."""

from __future__ import annotations

import re
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from framefleet.engine.notices import UsageError
from framefleet.engine.settings import Decode, EngineSettings, ModelFiles, Parallel, Precision, Recordings, RunSettings, Tiles
from framefleet.engine.settings.checks import find_notes, find_problems, require_possible
from framefleet.engine.settings.clock import ClockSettings
from framefleet.engine.settings.kinds import Choice, Moment, Number, whole, write
from framefleet.engine.settings.table import DEFAULTS, SETTINGS, TABLE
from framefleet.engine.types import DeviceId

CPUS = tuple(DeviceId("cpu", str(number)) for number in range(9))
GPU = DeviceId("cuda", "0")
MODEL = ModelFiles(Path("m.cfg"), "random:1")


def test_every_setting_is_a_field_of_the_values_and_the_other_way_round() -> None:
    names = [field.name for kind in (RunSettings, EngineSettings, Tiles, ClockSettings, Recordings) for field in fields(kind)]
    assert len(set(names)) == len(names), "one name is one setting"
    settings = {"confidence" if name == "stored_confidence" else name for name in names}
    assert settings - {"model", "engine", "tiles", "clock_settings", "recordings", "earlier"} == {*TABLE}
    assert len(TABLE) == len(SETTINGS)
    assert RunSettings.of(MODEL, DEFAULTS) == RunSettings(MODEL)
    choices = [setting.kind for setting in SETTINGS if isinstance(setting.kind, Choice)]
    assert [{*choice.titles} for choice in choices] == [{*choice.members} for choice in choices], "the dialog offers every member"


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("precision", Precision.BF16, "bf16"),
        ("batch", 12, "12"),
        ("latency_budget", 2.5, "2.5"),
        ("full_frame", False, "no"),
        ("devices", (CPUS[1], GPU), "cpu:1,cuda:0"),
        ("begin", Moment(frames=2700), "2700"),
        ("every", Moment(seconds=Fraction(5, 2)), "2.5s"),
    ],
)
def test_a_value_is_read_as_it_is_written(name: str, value: Any, text: str) -> None:
    assert write(value) == text
    assert TABLE[name].kind.read(text) == value
    assert type(TABLE[name].kind.read(text)) is type(value)


@pytest.mark.parametrize("name", [setting.name for setting in SETTINGS if isinstance(setting.kind, Number)])
def test_limits_hold_for_text_and_for_values(name: str) -> None:
    kind = TABLE[name].kind
    assert isinstance(kind, Number)
    stored = "stored_confidence" if name == "confidence" else name
    part = next(part for part in (Tiles, Recordings, EngineSettings) if stored in {field.name for field in fields(part)})
    inside = [kind.most] if kind.above else [kind.least, kind.most]
    outside = [kind.least if kind.above else kind.least - 1, kind.most + 1, float("nan")]
    for value in inside:
        assert kind.read(f"{value:g}") == getattr(part(**{stored: value}), stored) == value
    for value in outside:
        with pytest.raises(UsageError, match="cannot be used: give"):
            kind.read(f"{value:g}")
        with pytest.raises(UsageError, match=f"{name.replace('_', ' ')} .* cannot be used: give"):
            part(**{stored: value})


@pytest.mark.parametrize(
    ("changed", "devices", "says"),
    [
        ({"decode": Decode.NVDEC}, CPUS[:2], {"decode": r"none is among the devices \(cpu:0, cpu:1\)"}),
        ({"decode": Decode.NVDEC}, (CPUS[0], GPU), {}),
        ({"decode": Decode.NVDEC}, (DeviceId.group(GPU, DeviceId("cuda", "1")),), {}),
        ({"parallel": Parallel.DEPTH}, CPUS[:1], {"parallel": "needs 2 to 8 devices, .* not 1 "}),
        ({"parallel": Parallel.DEPTH}, CPUS, {"parallel": "needs 2 to 8 devices, .* not 9 "}),
        ({"parallel": Parallel.DEPTH}, (CPUS[0], CPUS[0]), {"parallel": "named twice"}),
        ({"parallel": Parallel.DEPTH}, (CPUS[0], GPU), {"parallel": "CUDA devices only, or other devices only, not both"}),
        ({"parallel": Parallel.DEPTH}, CPUS[:8], {}),
        ({"precision": Precision.BF16}, (CPUS[3], GPU), {"precision": "^cpu:3 offers FP32 only$"}),
        ({"precision": Precision.AUTO}, (CPUS[0],), {}),
    ],
)
def test_what_cannot_be_combined_is_named_with_its_setting(
    changed: dict[str, Any], devices: tuple[DeviceId, ...], says: dict[str, str]
) -> None:
    problems = find_problems(DEFAULTS | changed, devices, {CPUS[0]: ("fp32",)})
    assert problems.keys() == says.keys()
    assert all(re.search(pattern, str(problems[name])) for name, pattern in says.items()), problems
    if "decode" in says or "parallel" in says:
        with pytest.raises(UsageError, match=next(iter(says.values()))):
            require_possible(DEFAULTS | changed, devices)


def test_shares_are_read_in_per_cent_too() -> None:
    share = TABLE["confidence"].kind
    assert [share.read(text) for text in ("30%", "30 %", "0.3", "100%")] == [0.3, 0.3, 0.3, 1.0]
    for wrong in ("300%", "%", "a%", "1.2.3%"):
        with pytest.raises(UsageError, match="cannot be used: give a number above 0 and at most 1"):
            share.read(wrong)
    with pytest.raises(UsageError, match="cannot be used"):
        Number(1, 64, whole=True).read("30%")


def test_a_latency_budget_has_no_effect_on_a_fixed_batch() -> None:
    assert find_notes(DEFAULTS | {"latency_budget": 5.0}) == {}
    assert find_notes(DEFAULTS | {"latency_budget": 5.0, "batch": 4}).keys() == {"latency_budget"}


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("1.5m", 90), ("1:30", 90), ("0:01:30", 90), ("1:02.5", 62.5), ("2:00:00.001", 7200.001), ("0.040s", 0.04), ("1h", 3600)],
)
def test_times_are_read_in_several_notations(text: str, seconds: float) -> None:
    assert TABLE["begin"].kind.read(text) == Moment(seconds=Fraction(str(seconds)))


@pytest.mark.parametrize("text", ["", "1.5", "-3", "1:2:3:4", "1:", ":30", "s", "1e3", "10 s", "1:1.2345", "²"])
def test_what_is_neither_time_nor_number_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"give a time such as 90s or 1:02.5, or a number of frames such as 2700"):
        TABLE["end"].kind.read(text)


@pytest.mark.parametrize("text", ["0", "0s", "0:00"])
def test_a_distance_between_frames_is_above_zero(text: str) -> None:
    with pytest.raises(UsageError, match="above 0"):
        TABLE["every"].kind.read(text)


def test_an_empty_part_is_refused() -> None:
    for begin, end in (("10", "10"), ("5s", "4.9s")):
        with pytest.raises(UsageError, match=f"from {begin} to {end} is empty"):
            RunSettings.of(MODEL, {"begin": TABLE["begin"].kind.read(begin), "end": TABLE["end"].kind.read(end)})
    RunSettings.of(MODEL, {"begin": Moment(frames=100), "end": Moment(seconds=Fraction(1))})


def test_tiles_in_words() -> None:
    assert str(Tiles(full_frame=False, overlap=0.1).notice) == "tiles of about the network's size that overlap by 10%"
    assert str(Tiles(columns=3, overlap=0.2).notice) == "3 × automatic tiles that overlap by 20%, and the whole picture"


def test_a_device_twice_and_numbers_that_are_none() -> None:
    with pytest.raises(UsageError, match="a device is named twice: cpu:0, cpu:0"):
        RunSettings(ModelFiles(Path("m.cfg"), "random:1"), (CPUS[0], CPUS[0]))
    with pytest.raises(UsageError, match="'-1' cannot be used: give a whole number from 0"):
        whole("-1")
