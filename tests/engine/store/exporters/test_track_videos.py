"""Trails, numbers, counts and the heat map in annotated videos."""

from __future__ import annotations

from collections.abc import Collection

import av
import numpy as np
import pytest

from framefleet.engine.media.annotation.drawing import PLACES
from framefleet.engine.media.annotation.layout import DARK_INK, class_colour
from framefleet.engine.media.probe import probe
from framefleet.engine.media.sources import stamp_of
from framefleet.engine.media.types import Chapter
from framefleet.engine.notices import ExportError
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.appearances import chapters_of
from framefleet.engine.store.export import export_session
from framefleet.engine.store.exporters.options import ExportOptions, Part
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.store.tracks import track_session
from framefleet.engine.store.zones import read_counts
from framefleet.engine.types import Detections, FrameRef, FrameResult
from framefleet.engine.zones.shapes import Line, ZoneSet
from tests.support.media import make_video
from tests.support.store import CPU, LABELS

FRAMES, SIZE = 20, (320, 240)
ZONES = ZoneSet(SIZE, (Line("gate", (200, 100), (200, 230)),))


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    return written(tmp_path_factory.mktemp("tracked"), FRAMES)


def written(folder, detected):
    """A car moves by 8 pixels a frame to the right; its lower edge is at y = 200. detected: the number of frames that the run took."""
    video = make_video(folder / "a.mp4", FRAMES, SIZE, rate=25)
    with SessionWriter(folder / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, str(video), probe(video), stamp_of(video))
        for index in range(detected):
            box = np.array([[40 + 8 * index, 160, 80 + 8 * index, 200]], np.float32)
            found = Detections(box, np.array([0.9], np.float32), np.array([2], np.int32))
            writer.add_frames([FrameResult(FrameRef(0, index, index / 25), CPU, *SIZE, found)])
        writer.finish_source(0, str(video), Ledger(detected, detected, skipped=FRAMES - detected), 1.0)
    track_session(folder / "s.sqlite")
    return folder / "s.sqlite"


def pictures(session, folder, parts: Collection[Part], zones: ZoneSet | None = None):
    with SessionReader(session) as reader:
        (written,) = export_session(reader, folder, ["video"], options=ExportOptions(draw=frozenset(parts), zones=zones))
    with av.open(str(written.path)) as container:
        found = [frame.to_ndarray(format="rgb24").astype(int) for frame in container.decode(video=0)]
    assert len(found) == FRAMES
    return found


def last_picture(*arguments):
    return pictures(*arguments)[-1]


def is_near(picture, x, y, colour):
    """Whether a pixel near this one has a colour: chroma has half the size, and encoding changes it a little."""
    return np.abs(picture[y - 1 : y + 2, x - 1 : x + 2] - colour).sum(2).min() < 90


def test_parts_are_drawn_if_they_are_wanted(session, tmp_path):
    plain = last_picture(session, tmp_path / "plain", [Part.IDS])
    trails = last_picture(session, tmp_path / "trails", [Part.TRAILS])
    assert is_near(trails, 140, 200, class_colour(2))
    assert not is_near(plain, 140, 200, class_colour(2))
    zones = last_picture(session, tmp_path / "zones", [Part.ZONES], ZONES)
    assert is_near(zones, 200, 120, PLACES)
    assert not is_near(trails, 200, 120, PLACES)
    heat = last_picture(session, tmp_path / "heat", [Part.HEAT])
    assert np.abs(heat - plain)[195:205, 100:180].mean() > 20
    assert np.abs(heat - plain)[20:60, 100:180].mean() < 8


def test_the_chart_shows_the_counts_and_the_present_moment(session, tmp_path):
    """One car is always there, so its bars fill the lower edge; the mark moves over them from the left to the right."""
    plain, charts = (pictures(session, tmp_path / name, parts) for name, parts in (("plain", [Part.IDS]), ("chart", [Part.CHART])))
    for number, (before, picture) in enumerate(zip(plain, charts, strict=True)):
        mark = round(number / FRAMES * (SIZE[0] - 1))
        row = picture[SIZE[1] - 6]
        assert row[max(mark - 2, 0) : mark + 3].sum(1).max() > 600, "white at the present moment"
        for at in (SIZE[0] // 8, SIZE[0] * 7 // 8):
            if abs(at - mark) > 8:
                strength = 1 if at < mark else 0.5
                wanted = strength * np.array(class_colour(2)) + (1 - strength) * np.array(DARK_INK)
                assert np.abs(row[at] - wanted).sum() < 90, (number, at)
        assert np.abs(picture - before)[: SIZE[1] * 3 // 4 - 8].mean() < 4, "the picture above stays as it is"


def test_the_chart_goes_on_behind_a_part_that_was_detected(tmp_path):
    picture = last_picture(written(tmp_path, FRAMES // 2), tmp_path / "chart", [Part.CHART])
    row = picture[SIZE[1] - 6]
    assert np.abs(row[SIZE[0] * 3 // 8] - class_colour(2)).sum() < 90
    assert np.abs(row[SIZE[0] * 5 // 8] - class_colour(2)).sum() > 200


def test_texts_keep_off_the_chart(session, tmp_path):
    """The text of a line near the lower edge stands above the chart."""
    low = ZoneSet(SIZE, (Line("gate", (60, 236), (300, 236)),))
    free, charted = (last_picture(session, tmp_path / str(len(parts)), parts, low) for parts in ([Part.ZONES], [Part.ZONES, Part.CHART]))
    above = slice(176, 190), slice(100, 250)
    assert np.abs(charted - free)[above].max() > 100


def test_labels_have_the_numbers_of_tracks(session, tmp_path):
    """The longer label covers a place where the shorter one shows the picture."""
    short = last_picture(session, tmp_path / "short", [Part.BOXES])
    long = last_picture(session, tmp_path / "long", [Part.BOXES, Part.IDS])
    label = slice(150, 160), slice(185, 300)
    assert np.abs(long - short)[label].max() > 60


def test_another_choice_makes_another_file(session, tmp_path):
    first = last_picture(session, tmp_path, [Part.TRAILS])
    second = last_picture(session, tmp_path, [Part.BOXES])
    assert np.abs(first - second).max() > 60
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".mp4"] == ["a.annotated.mp4"]


def test_zones_of_another_shape_are_refused(session, tmp_path):
    wrong = ZoneSet((100, 100), (Line("gate", (1, 1), (9, 9)),))
    with SessionReader(session) as reader, pytest.raises(ExportError, match="another shape"):
        export_session(reader, tmp_path, ["video"], options=ExportOptions(zones=wrong))


def test_crossings_are_named_in_the_chapters(session):
    with SessionReader(session) as reader:
        (source,) = reader.sources()
        (chapter,) = chapters_of(reader, source.number, 0.8, read_counts(reader, source, ZONES))
    assert chapter == Chapter("car, car crosses gate backward", 0.0, 0.8)
