from fractions import Fraction
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from PySide6.QtCore import QSettings

from framefleet.app.window.settings.preferences import FLOOR, STORED, Preferences, load, save
from framefleet.engine.errors import UsageError
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
from framefleet.engine.settings.kinds import Moment
from framefleet.engine.settings.table import DEFAULTS
from framefleet.engine.types import DeviceId
from tests.support.window import changed_preferences

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


def test_preferences_of_the_first_version_are_loaded(tmp_path: Path) -> None:
    old = store(tmp_path)
    values = {
        "cfg": "/m/ä b.cfg",
        "weights": "/m/ä b.weights",
        "labels": "/m/x.names",
        "devices": "cpu:0;openvino:GPU.0",
        "precision": "fp32",
        "resize": "letterbox",
        "parallel": "tiles",
        "batch": "4",
        "confidence": "0.35",
        "iou": "0.6",
        "decode": "cpu",
        "tiles": "4;0;0.15;",
        "isolation": "thread",
        "lanes": "3",
        "latency_budget": "12.5",
        "hint": "latency",
        "track": "ocsort",
    }
    for key, value in values.items():
        old.setValue(f"detection/{key}", value)
    old.sync()
    later = dict.fromkeys(("begin", "end", "every", "clock", "time_zone"))  # settings that version 1 did not have
    assert load(store(tmp_path)) == Preferences(MODEL, {**CHANGED.values, **later})
    usual = store(tmp_path, "[detection]\nbatch=\ntiles=0;0;0.2;full\nlanes=\n")
    assert load(usual) == Preferences()


@pytest.mark.parametrize("version", ["", "version=2\n"])
def test_whatever_stands_in_the_file_the_window_starts(tmp_path: Path, version: str) -> None:
    wrong = (
        "devices=gpu:x;;\nprecision=fp7\nresize=\nbatch=many\nconfidence=7\niou=nan\ncfg=/only/a.cfg\ndecode=gpu\ntiles=3;x\ncolumns=0\n"
        "full_frame=maybe\nisolation=jail\nlanes=65\ndecode_threads=65\nlatency_budget=nan\nhint=speed\nclasses=person\n"
        "begin=soon\nend=-1\nevery=0\nclock=noon\ntime_zone=Berlin\n"
    )
    assert load(store(tmp_path, f"[detection]\n{version}{wrong}")) == Preferences()


def test_detection_keeps_more_than_is_shown_at_first() -> None:
    model = ModelFiles(Path("m.cfg"), "random:1")
    assert Preferences.of(model, confidence=0.5).run_settings().engine.confidence == FLOOR
    assert Preferences.of(model, confidence=0.02).run_settings().engine.confidence == 0.02
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
        confidence=FLOOR,
        iou=0.6,
    )
    tiles = Tiles(4, None, 0.15, full_frame=False)
    part = Moment(seconds=Fraction(3, 2)), Moment(frames=2700), Moment(seconds=Fraction(1))
    others = Track.OCSORT, ClockSettings(ClockSource.NAME, ZoneInfo("Europe/Berlin"))
    assert CHANGED.run_settings() == RunSettings(MODEL, DEVICES, Parallel.TILES, engine, Isolation.THREAD, tiles, *part, *others)
