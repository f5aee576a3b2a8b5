""""""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from PySide6.QtCore import QSettings

from framefleet.app.window.settings.preferences import STORED, Preferences, load, read_settings, save, write_settings
from framefleet.engine.notices import ExportError, UsageError
from framefleet.engine.run.resume import ADJUSTABLE_CONFIDENCE
from framefleet.engine.settings import (
    Decode,
    EngineSettings,
    Hint,
    Isolation,
    ModelFiles,
    Parallel,
    Precision,
    Resize,
    RunSettings,
    Tiles,
    Track,
)
from framefleet.engine.settings.clock import ClockSettings, ClockSource
from framefleet.engine.settings.kinds import Moment, Moments
from framefleet.engine.settings.table import DEFAULTS
from framefleet.engine.types import DeviceId
from tests.support.window import CPU, changed_preferences

MODEL = ModelFiles(Path("/m/ä b.cfg"), Path("/m/ä b.weights"), Path("/m/x.names"))
DEVICES = (DeviceId("cpu", "0"), DeviceId("openvino", "GPU.0"))
CHANGED = changed_preferences(MODEL, devices=DEVICES, rows=None)


def store(folder: Path, text: str | None = None) -> QSettings:
    """The stored preferences. text: what stands in the file."""
    if text is not None:
        (folder / "settings.ini").write_text(text, "utf-8")
    return QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat)


@pytest.mark.parametrize("preferences", [Preferences(), CHANGED, Preferences(ModelFiles(Path("m.cfg"), "random:7"))])
def test_what_is_saved_is_loaded_again(tmp_path: Path, preferences: Preferences) -> None:
    for other in (CHANGED, preferences):
        first = store(tmp_path)
        save(other, first)
        first.sync()
    assert load(store(tmp_path)) == preferences


def test_whatever_stands_in_the_file_the_window_starts(tmp_path: Path) -> None:
    wrong = (
        "devices=gpu:x;;\nprecision=fp7\nresize=\nbatch=many\nconfidence=7\niou=nan\ncfg=/only/a.cfg\ndecode=gpu\ncolumns=0\n"
        "full_frame=maybe\nisolation=jail\ndecode_threads=65\nlatency_budget=nan\nhint=speed\nclasses=person\n"
        "begin=soon\nend=-1\nevery=0\nclock=noon\ntime_zone=Berlin\n"
    )
    assert load(store(tmp_path, f"[detection]\n{wrong}")) == Preferences()


def test_detection_keeps_more_than_is_shown_at_first() -> None:
    model = ModelFiles(Path("m.cfg"), "random:1")
    assert Preferences.of(model, confidence=0.5).run_settings().engine.stored_confidence == ADJUSTABLE_CONFIDENCE
    assert Preferences.of(model, confidence=0.02).run_settings().engine.stored_confidence == 0.02
    with pytest.raises(UsageError, match="no model is chosen"):
        Preferences().run_settings()


def test_every_choice_reaches_the_run() -> None:
    assert [name for name in STORED if CHANGED.values[name] == DEFAULTS[name]] == ["rows"]
    engine = EngineSettings(
        precision=Precision.FP32,
        resize=Resize.LETTERBOX,
        hint=Hint.LATENCY,
        decode=Decode.CPU,
        batch=4,
        latency_budget=12.5,
        decode_threads=3,
        stored_confidence=ADJUSTABLE_CONFIDENCE,
        iou=0.6,
    )
    tiles = Tiles(4, None, 0.15, full_frame=False)
    part = Moment(seconds=Fraction(3, 2)), Moment(frames=2700), Moment(seconds=Fraction(1))
    others = Track.BYTETRACK, ClockSettings(ClockSource.NAME, ZoneInfo("Europe/Berlin"))
    assert CHANGED.run_settings() == RunSettings(MODEL, DEVICES, Parallel.TILES, engine, Isolation.THREAD, tiles, *part, *others)


EXPORTED = DEFAULTS | {"devices": (CPU,), "parallel": Parallel.FRAMES, "precision": Precision.FP32, "batch": 4, "confidence": 0.355,
                      "begin": Moments().read("1:30"), "full_frame": False}  # fmt: skip


def test_another_machine_reads_what_was_written(tmp_path: Path) -> None:
    write_settings(tmp_path / "settings.json", EXPORTED, {"theme": "light", "language": "de"})
    values, window = read_settings(tmp_path / "settings.json")
    assert values == EXPORTED
    assert window == {"theme": "light", "language": "de"}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"file": "a recipe"}, "has no settings of Framefleet"),
        ({"version": 2}, "has version 2, and this Framefleet reads version 1"),
        ({"settings": ["fp32"]}, "is damaged"),
        ({"settings": {"precision": 3}}, "is damaged"),
        ({"window": None}, "is damaged"),
        ({"settings": {"colour": "red"}}, "has the unknown setting 'colour'"),
        ({"settings": {"precision": "fp8"}}, "setting 'precision': 'fp8' is unknown; choose from: auto, fp32"),
        ({"settings": {"confidence": "2"}}, "setting 'confidence': '2' cannot be used"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_words(tmp_path: Path, changes: dict[str, Any], problem: str) -> None:
    path = tmp_path / "settings.json"
    write_settings(path, DEFAULTS, {})
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(UsageError) as refused:
        read_settings(path)
    assert str(path) in str(refused.value)
    assert problem in str(refused.value)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[1]", b"{", b"x" * 2_000_000])
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(UsageError, match="has no settings of Framefleet"):
        read_settings(tmp_path / "a.json")


def test_a_missing_file_and_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        read_settings(tmp_path / "none.json")
    with pytest.raises(ExportError, match="cannot write"):
        write_settings(tmp_path / "none" / "a.json", DEFAULTS, {})
