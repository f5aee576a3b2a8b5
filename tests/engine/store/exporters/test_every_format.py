"""Every format reports progress, can be cancelled, and leaves the older files until the new ones are complete."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from framefleet.engine.notices import ExportError, literal
from framefleet.engine.store.export import Exported, export_session
from framefleet.engine.store.exporters import EXPORTERS
from framefleet.engine.store.exporters.options import ExportOptions
from framefleet.engine.store.session import SessionReader
from framefleet.engine.store.tracks import track_session
from framefleet.engine.zones.shapes import Line, ZoneSet
from tests.support.store import write_session

FORMATS = [name for name in EXPORTERS if name != "video"]
"""Videos decode their source: see ``test_video``."""

REPORT_FRAMES = 50
"""After how many frames a format reports here, so that short videos do."""


@pytest.fixture(autouse=True)
def _frequent_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("framefleet.engine.store.exporters.base.REPORT_FRAMES", REPORT_FRAMES)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session of two videos, with tracks."""
    database = write_session(tmp_path_factory.mktemp("session") / "s.sqlite", {"a.mp4": 3 * REPORT_FRAMES, "b.mp4": 20})
    track_session(database)
    return database


OF_TRACKS = {"zones", "events"}
"""Formats in which a confidence leaves out no track."""

ZONES = ZoneSet((640, 480), (Line("middle", (300, 0), (300, 400)),))

Progress = Callable[[Path, int, int], None]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def export(session: Path, folder: Path, form: str, progress: Progress | None = None, confidence: float = 0.0) -> list[Exported]:
    options = ExportOptions(zones=ZONES) if form == "zones" else ExportOptions()
    with SessionReader(session, confidence) as reader:
        return export_session(reader, folder, [form], progress, options=options)


@pytest.mark.parametrize("form", FORMATS)
def test_progress_grows_up_to_the_number_of_frames(session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    monkeypatch.setattr("framefleet.engine.store.reader.BLOCK_FRAMES", REPORT_FRAMES)
    seen: dict[str, list[tuple[int, int]]] = {}
    written = export(session, tmp_path, form, lambda path, *frames: seen.setdefault(path.name, []).append(frames))
    assert {*seen} <= {item.path.name for item in written}
    assert seen
    assert max(len({*reports}) for reports in seen.values()) > 1
    for reports in seen.values():
        frames, (total, *others) = [done for done, _ in reports], {whole for _, whole in reports}
        assert not others
        assert frames == sorted(set(frames))
        assert total - REPORT_FRAMES < frames[-1] <= total


@pytest.mark.parametrize("form", FORMATS)
def test_a_cancelled_export_leaves_the_older_files(session: Path, tmp_path: Path, form: str) -> None:
    export(session, tmp_path, form)
    before = contents(tmp_path)

    def cancel(_path: Path, frames: int, total: int) -> None:
        raise ExportError(literal(f"cancelled at {frames} of {total}"))

    with pytest.raises(ExportError, match="cancelled at"):
        export(session, tmp_path, form, cancel, confidence=0.85)
    assert contents(tmp_path) == before
    export(session, tmp_path, form, confidence=0.85)
    after = contents(tmp_path)
    assert [*after] == [*before]
    assert (after != before) is (form not in OF_TRACKS), "without a cancellation, the files change"
