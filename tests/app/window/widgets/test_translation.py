"""What the engine says is shown in German, with its values, and without English words between them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from framefleet.app.window.widgets import translation
from framefleet.app.window.widgets.translation import of_engine, strategy_name
from framefleet.engine.media.container.video_file import open_container
from framefleet.engine.media.decoder import DecoderUse
from framefleet.engine.media.sources import expand_sources
from framefleet.engine.model.load import check_model
from framefleet.engine.notices import FramefleetError, Notice, Option, tables
from framefleet.engine.pool.scheduling.strategies import explain
from framefleet.engine.settings import Decode, ModelFiles, Parallel, RunSettings
from framefleet.engine.settings.checks import decode_problem, find_notes, part_problem
from framefleet.engine.settings.kinds import Moment, Moments
from framefleet.engine.store.schema import explained
from framefleet.engine.types import DeviceId, of_device
from tests.support.notices import words
from tests.support.window import CPU

ENGLISH = re.compile(r"\b(the|is|are|cannot|every|does|its|it|give|check|of|to|with|and|choose|not)\b")
OTHER = DeviceId("cpu", "1")
MODEL = ModelFiles(Path("a.cfg"), "random:1")


@pytest.fixture(autouse=True)
def _german(qapp: QApplication) -> Iterator[None]:
    translation.install(qapp, "de")
    yield
    translation.install(qapp, "en")


def message_of(call: Callable[[], object]) -> Notice:
    with pytest.raises(FramefleetError) as caught:
        call()
    return caught.value.notice


def cannot_write(path: Path) -> None:
    with explained(path, "write"):
        raise PermissionError(13, "Permission denied")


def errors(folder: Path) -> Iterator[Notice]:
    (folder / "empty.cfg").write_text("")
    (folder / "x.weights").write_bytes(b"1234")
    yield message_of(lambda: expand_sources([folder / "missing.mp4"]))
    yield message_of(lambda: expand_sources([folder]))
    (folder / "broken.mp4").write_bytes(bytes(100))
    yield message_of(lambda: open_container(folder / "broken.mp4"))
    yield message_of(lambda: check_model(ModelFiles(folder / "missing.cfg", "random:1")))
    yield message_of(lambda: check_model(ModelFiles(folder / "empty.cfg", folder / "x.weights")))
    yield message_of(lambda: DeviceId.parse("gpu"))
    yield message_of(lambda: Moments().read("soon"))


def test_errors_of_files_and_settings_are_german(tmp_path: Path) -> None:
    for error in errors(tmp_path):
        said = of_engine(error)
        assert said != str(error)
        assert not ENGLISH.search(said.replace(str(tmp_path), "")), said


@pytest.mark.parametrize("devices", [[CPU], [CPU, OTHER]])
@pytest.mark.parametrize("parallel", [Parallel.AUTO, Parallel.STREAMS, Parallel.TILES])
@pytest.mark.parametrize("uncut", [0, 1])
def test_the_reasons_of_strategies_are_german(devices: list[DeviceId], parallel: Parallel, uncut: int) -> None:
    reason = explain(RunSettings(MODEL, parallel=parallel), devices, uncut)
    assert not ENGLISH.search(of_engine(reason)), of_engine(reason)


def test_values_stay_and_numbers_follow_the_language() -> None:
    tried = Notice("backends.precision_tried", precision="bf16", gain=1.83, share=0.995, matching=0.99)
    said = "bf16: 1,83× so schnell wie fp32, 99,5 % der Rahmen gleich (nötig: 99 %)"
    assert of_engine(Notice("backends.reasons", parts=(tried, tried))) == f"{said}; {said}"
    assert of_engine(Notice("backends.try_precision", precision="bf16")) == "bf16 wird erprobt"
    failed = Notice("backends.inference_failed", problem=words("out of frames"))
    assert of_engine(of_device(DeviceId("cuda", "0"), failed)) == "cuda:0: die Inferenz schlug fehl: out of frames"


def test_notes_of_settings_and_of_decoders_are_german() -> None:
    texts = [decode_problem(Decode.NVDEC, [CPU]), part_problem(Moment(frames=9), Moment(frames=3))]
    texts += [
        *find_notes({"batch": 4, "latency_budget": 9}).values(),
        DecoderUse(cpu=3, nvdec=4, reason=words("a packet is damaged")).notice,
    ]
    texts.append(message_of(lambda: cannot_write(Path("/a b/c.sqlite"))))
    for text in texts:
        assert not ENGLISH.search(of_engine(text)), of_engine(text)


def test_other_texts_stay_as_they_are(qapp: QApplication) -> None:
    assert of_engine(words("/videos/the street.mp4")) == "/videos/the street.mp4"
    assert (strategy_name("segments"), strategy_name("other")) == ("Segmente", "other")
    translation.install(qapp, "en")
    texts = (
        of_engine(Notice("backends.try_precision", precision="bf16")),
        strategy_name("segments"),
        of_engine(words("no device to use"), capital=True),
    )
    assert texts == ("trying bf16", "Segments", "No device to use")


@pytest.mark.parametrize(
    ("text", "capital"),
    [
        ("no video in the folder /a", "No video in the folder /a"),
        ("cpu:0 failed", "cpu:0 failed"),
        ("/v/a does not exist", "/v/a does not exist"),
        ("", ""),
    ],
)
def test_a_text_of_its_own_begins_with_a_capital_but_a_name_stays_as_it_is(text: str, capital: str) -> None:
    assert of_engine(words(text), capital=True) == capital


@pytest.fixture
def _texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts of notices whose German is in the translations."""
    monkeypatch.setitem(tables.TEXTS, "general.slow", "{name} has no device")
    monkeypatch.setitem(tables.TEXTS, "general.speed", "{what}: {speed:.2f}× of {frames:,} ({part:.1%})")
    monkeypatch.setitem(tables.TEXTS, "general.moved", ("{count} file moved", "{count} files moved"))
    monkeypatch.setitem(tables.TEXTS, "general.failed", "{cause} ({path}; {option})")
    monkeypatch.setitem(tables.TEXTS, "general.none", "End of file")


@pytest.mark.usefixtures("_texts")
def test_a_notice_is_rendered_in_the_language_of_the_window(qapp: QApplication) -> None:
    speed = Notice("general.speed", what=Notice("general.none"), speed=1.825, frames=1200, part=0.995)
    assert of_engine(speed) == "die Datei endet zu früh: 1,82× of 1.200 (99,5 %)"
    failed = Notice("general.failed", cause=Notice("general.none"), path=Path("/a/b.mp4"), option=Option("parallel", "segments"))
    assert of_engine(failed, names=True, capital=True).startswith("Die Datei endet zu früh (b.mp4; ")
    assert "Strategie" in of_engine(failed)
    assert "--" not in of_engine(failed)
    detail = Notice("general.detail", detail=("End of file", Option("restart")))
    twice = Notice("backends.reasons", parts=(detail, detail))
    assert of_engine(twice) == "die Datei endet zu früh, --restart; die Datei endet zu früh, --restart"
    translation.install(qapp, "en")
    assert of_engine(speed) == "End of file: 1.82× of 1,200 (99.5%)"
    assert of_engine(failed, capital=True) == "End of file (/a/b.mp4; “Strategy: Segments”)"


@pytest.mark.usefixtures("_texts")
def test_a_notice_begins_with_a_capital_but_not_with_a_changed_name() -> None:
    assert [of_engine(Notice("general.moved", count=number)) for number in (1, 2)] == ["1 file moved", "2 files moved"]
    assert of_engine(Notice("general.slow", name="cpu:0"), capital=True) == "cpu:0 has no device"
    assert of_engine(Notice("general.none"), capital=True) == "Die Datei endet zu früh"
    assert of_engine(Notice("general.of_a_newer_version", path=Path("a.mp4"))) == "general.of_a_newer_version: path a.mp4"
