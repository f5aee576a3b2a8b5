from pathlib import Path

import pytest
from PySide6.QtCore import QSettings

from app.window.settings.preferences import FLOOR, Preferences, load, save
from engine.errors import UsageError
from engine.settings import Decode, EngineSettings, Hint, Isolation, ModelFiles, Parallel, Precision, Resize, RunSettings, Tiles
from engine.types import DeviceId


def store(folder: Path) -> QSettings:
    return QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat)


@pytest.mark.parametrize(
    "preferences",
    [
        Preferences(),
        Preferences(
            ModelFiles(Path("/m/ä b.cfg"), Path("/m/ä b.weights"), Path("/m/x.names")),
            (DeviceId("cpu", "0"), DeviceId("openvino", "GPU.0")),
            Precision.FP32,
            Resize.LETTERBOX,
            Parallel.STREAMS,
            8,
            0.4,
            0.6,
            Decode.NVDEC,
            Tiles(4, None, 0.25, full_frame=False),
            Isolation.THREAD,
            6,
            12.5,
            Hint.LATENCY,
        ),
        Preferences(ModelFiles(Path("m.cfg"), "random:7")),
    ],
)
def test_what_is_saved_is_loaded_again(tmp_path: Path, preferences: Preferences) -> None:
    first = store(tmp_path)
    save(preferences, first)
    first.sync()
    assert load(store(tmp_path)) == preferences


def test_whatever_stands_in_the_file_the_window_starts(tmp_path: Path) -> None:
    (tmp_path / "settings.ini").write_text(
        "[detection]\ndevices=gpu:x;;\nprecision=fp7\nresize=\nbatch=many\nconfidence=7\niou=nan\ncfg=/only/a.cfg\n"
        "decode=gpu\ntiles=3;x;0.2;full\nisolation=jail\nlanes=65\nlatency_budget=nan\nhint=speed\n",
        "utf-8",
    )
    assert load(store(tmp_path)) == Preferences()


def test_detection_keeps_more_than_is_shown_at_first() -> None:
    model = ModelFiles(Path("m.cfg"), "random:1")
    assert Preferences(model, confidence=0.5).run_settings().engine.confidence == FLOOR
    assert Preferences(model, confidence=0.02).run_settings().engine.confidence == 0.02
    with pytest.raises(UsageError, match="no model is chosen"):
        Preferences().run_settings()


def test_every_choice_reaches_the_run() -> None:
    model, cpu = ModelFiles(Path("m.cfg"), "random:1"), DeviceId("cpu", "0")
    tiles = Tiles(2, 2)
    preferences = Preferences(
        model,
        (cpu,),
        Precision.FP16,
        Resize.STRETCH,
        Parallel.TILES,
        8,
        0.4,
        0.6,
        Decode.CPU,
        tiles,
        Isolation.THREAD,
        2,
        9.0,
        Hint.LATENCY,
    )
    engine = EngineSettings(
        Precision.FP16,
        Resize.STRETCH,
        Hint.LATENCY,
        decode=Decode.CPU,
        batch=8,
        latency_budget=9.0,
        decode_threads=2,
        confidence=FLOOR,
        iou=0.6,
    )
    assert preferences.run_settings() == RunSettings(model, (cpu,), Parallel.TILES, engine, Isolation.THREAD, tiles)
