from pathlib import Path

import pytest
from PySide6.QtCore import QSettings

from app.window.preferences import FLOOR, Preferences, load, save
from engine.errors import UsageError
from engine.settings import ModelFiles, Parallel, Precision, Resize
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
        "[detection]\ndevices=gpu:x;;\nprecision=fp7\nresize=\nbatch=many\nconfidence=7\niou=nan\ncfg=/only/a.cfg\n", "utf-8"
    )
    assert load(store(tmp_path)) == Preferences()


def test_detection_keeps_more_than_is_shown_at_first() -> None:
    model = ModelFiles(Path("m.cfg"), "random:1")
    assert Preferences(model, confidence=0.5).run_settings().engine.confidence == FLOOR
    assert Preferences(model, confidence=0.02).run_settings().engine.confidence == 0.02
    with pytest.raises(UsageError, match="no model is chosen"):
        Preferences().run_settings()
