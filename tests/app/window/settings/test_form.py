from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QSettings

from framefleet.app.window.devices.status import DeviceStatus, Phase
from framefleet.app.window.queue.item import ItemState
from framefleet.app.window.settings.form import LastRun
from framefleet.engine.media.decoder import DecoderUse
from framefleet.engine.pool.events import StrategyChosen
from framefleet.engine.types import AS_ASKED, DeviceId
from tests.support.notices import words
from tests.support.window import CPU, engine_info, queue_item

OTHER = DeviceId("cpu", "1")


def test_the_choices_of_a_run_and_their_reasons_are_known_at_the_next_start(tmp_path: Path) -> None:
    store = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    run = LastRun(store)
    assert run.sentences == {}
    run.show_strategy(StrategyChosen("segments", words("one file and two devices")))
    run.show_devices([DeviceStatus(CPU, Phase.READY, engine=engine_info()), DeviceStatus(OTHER, Phase.STARTING)])
    asked = replace(engine_info(precision="fp32"), reason=AS_ASKED)
    run.show_devices([DeviceStatus(CPU, Phase.READY, engine=asked)])  # this is no choice of the engine
    run.show_item(
        queue_item(Path("a.mp4"), ItemState.DONE, seconds=1.0, decoder=DecoderUse(cpu=9, reason=words("the GPU cannot decode AV1")))
    )
    again = LastRun(store)
    assert again.sentences == run.sentences
    assert again.sentences["parallel"] == "Last run: Segments: one file and two devices."
    assert again.sentences["precision"] == "Last run: bf16: the fastest that matches fp32."
    assert again.sentences["batch"] == "Last run: 1."
    assert again.sentences["decode"] == "Last run: decoded by the CPU: the GPU cannot decode AV1."


def test_devices_are_named_where_their_choices_differ(tmp_path: Path) -> None:
    run = LastRun(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))
    engines = (engine_info(), engine_info(OTHER, "fp32", "it has no bf16"))
    run.show_devices([DeviceStatus(engine.device, Phase.READY, engine=engine) for engine in engines])
    assert run.sentences["precision"].startswith("Last run: cpu:0: bf16: the fastest that matches fp32; cpu:1: fp32")
