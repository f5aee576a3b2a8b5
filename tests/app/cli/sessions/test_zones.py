"""Lines and zones on the command line."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from framefleet.app.cli.sessions import DATABASE, LiveZones
from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.store.tracks import track_session, track_source
from framefleet.engine.zones.file import parse_zones, read_zones
from tests.support.cli import FAST, run_main
from tests.support.media import make_video
from tests.support.store import LABELS, make_frame, video_info, write_session

ZONES = {
    "version": 1,
    "width": 640,
    "height": 480,
    "lines": [{"name": "gate", "from": [20, 10], "to": [20, 40]}],
    "zones": [{"name": "yard", "points": [[10, 0], [30, 0], [30, 100], [10, 100]], "classes": ["person"]}],
}


@pytest.fixture
def session(tmp_path):
    """An object moves by a pixel a frame to the right, and its lower edge begins at x = 5.25."""
    path = write_session(tmp_path / "run" / "session.sqlite", {"a.mp4": 40})
    track_session(path)
    return path


@pytest.fixture
def zones(tmp_path):
    path = tmp_path / "zones.json"
    path.write_text(json.dumps(ZONES))
    return path


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_tables_of_a_stored_session(session, zones):
    done = run_main("results", session, "--zones", zones, "--interval", "1s", "--quiet")
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines()[:5] == [
        "a.mp4:",
        "  line                       forward  backward",
        "  gate                             0         1",
        "  zone                        visits   entered  seconds each",
        "  yard                             1         1           0.8",
    ]
    folder = session.parent
    (crossing,) = rows(folder / "crossings.csv")
    assert crossing == {
        "source": "a.mp4",
        "line": "gate",
        "time": "0.59",
        "clock": "",
        "track": "1",
        "class_id": "0",
        "label": "person",
        "direction": "backward",
    }
    (visit,) = rows(folder / "zone-times.csv")
    assert (visit["begin"], visit["end"], visit["seconds"], visit["entered"], visit["left"]) == ("0.19", "0.99", "0.8", "TRUE", "TRUE")
    counted = rows(folder / "line-counts.csv")
    assert [(each["start"], each["forward"], each["backward"]) for each in counted] == [("0.0", "0", "1"), ("1.0", "0", "0")]
    inside = rows(folder / "zone-counts.csv")
    assert [(each["tracks"], each["entered"], each["left"], each["most_at_once"], each["mean"]) for each in inside] == [
        ("1", "1", "1", "1", "0.8"),
        ("0", "0", "0", "0", "0.0"),
    ]
    assert rows(folder / "routes.csv") == [
        {"source": "a.mp4", "from": "yard", "to": "gate", "class_id": "0", "label": "person", "tracks": "1"}
    ]


def test_a_line_that_nothing_crossed_has_advice(session, zones):
    """The numbers of the report for programs stay as they are."""
    zones.write_text(json.dumps(ZONES | {"lines": [*ZONES["lines"], {"name": "exit", "from": [600, 10], "to": [600, 40]}]}))
    done = run_main("results", session, "--zones", zones, "--quiet")
    assert "  1 track, and it did not cross 'exit': an object crosses with the middle of the lower edge of its box, between" in done.out
    assert "cross 'gate'" not in done.out


def test_the_advice_is_about_the_tracks_that_count(tmp_path, zones):
    """A person crosses the gate, a car does not. No bicycle has a track."""
    path = write_session(tmp_path / "run" / "session.sqlite", {"a.mp4": 40}, boxes=3, apart=100)
    track_session(path)
    lanes = [{**ZONES["lines"][0], "name": label, "classes": [label]} for label in ("bicycle", "car")]
    zones.write_text(json.dumps(ZONES | {"lines": [*ZONES["lines"], *lanes]}))
    done = run_main("results", path, "--zones", zones, "--quiet")
    (advice,) = (line for line in done.out.splitlines() if "not cross" in line)
    assert advice.startswith("  1 track, and it did not cross 'car': ")
    assert "1 track, and it did not cross 'gate'" in run_main("results", path, "--zones", zones, "--quiet", "--classes", "car").out


def test_only_the_chosen_sources_are_counted(tmp_path, zones):
    path = write_session(tmp_path / "run" / "session.sqlite", {"a.mp4": 40, "b.mp4": 40})
    track_session(path)
    done = run_main("results", path, "--zones", zones, "--source", "b.mp4", "--quiet")
    assert (done.status, done.err) == (0, "")
    assert "b.mp4:" in done.out
    assert "a.mp4:" not in done.out


def test_tables_of_what_the_set_lacks_are_not_written(tmp_path, zones):
    path = write_session(tmp_path / "run" / "session.sqlite", {"a.mp4": 40})
    track_session(path)
    for shapes in ("lines", "zones"):
        zones.write_text(json.dumps({**ZONES, "lines": [], "zones": [], shapes: ZONES[shapes]}))
        done = run_main("results", path, "--zones", zones, "--out", tmp_path / shapes, "--quiet")
        assert done.status == 0, done.err
    assert {file.name for file in (tmp_path / "lines").iterdir()} == {"crossings.csv", "line-counts.csv", "line-totals.csv", "routes.csv"}
    assert {file.name for file in (tmp_path / "zones").iterdir()} == {"zone-times.csv", "zone-counts.csv", "routes.csv"}


def test_files_without_a_crossing_have_rows_of_zeros_and_the_totals_add_files(tmp_path, zones):
    """The second file ends before the object reaches the line. It begins in the last second of the first one."""
    path = write_session(tmp_path / "run" / "session.sqlite", {"cam_20261101_080000.mp4": 40, "cam_20261101_080001.mp4": 8})
    track_session(path)
    zones.write_text(
        json.dumps({**ZONES, "lines": [*ZONES["lines"], {"name": "gate 2", "from": [600, 9], "to": [600, 10], "classes": ["car"]}]})
    )
    clock = ("--clock", "name", "--time-zone", "UTC")
    done = run_main("results", path, "--zones", zones, "--interval", "1s", *clock, "--quiet")
    assert (done.status, done.out.splitlines()[0]) == (0, "all 2 videos:"), done.err
    names = ("source", "line", "start", "label", "forward", "backward")
    first, second = "cam_20261101_080000.mp4", "cam_20261101_080001.mp4"
    assert [tuple(each[name] for name in names) for each in rows(path.parent / "line-counts.csv")] == [
        (first, "gate", "0.0", "person", "0", "1"),
        (first, "gate", "1.0", "person", "0", "0"),
        (first, "gate 2", "0.0", "car", "0", "0"),
        (first, "gate 2", "1.0", "car", "0", "0"),
        (second, "gate", "0.0", "person", "0", "0"),
        (second, "gate 2", "0.0", "car", "0", "0"),
    ]
    names = ("line", "clock", "label", "files", "forward", "backward")
    assert [tuple(each[name] for name in names) for each in rows(path.parent / "line-totals.csv")] == [
        ("gate", "2026-11-01T08:00:00.000+00:00", "person", "1", "0", "1"),
        ("gate", "2026-11-01T08:00:01.000+00:00", "person", "2", "0", "0"),
        ("gate 2", "2026-11-01T08:00:00.000+00:00", "car", "1", "0", "0"),
        ("gate 2", "2026-11-01T08:00:01.000+00:00", "car", "2", "0", "0"),
    ]
    assert [each["source"] for each in rows(path.parent / "zone-counts.csv")] == [first, first, second]


def test_all_classes_of_tracks_have_rows_of_zeros_at_each_line_and_zone(tmp_path, zones):
    """A car below the line crosses nothing. Bicycles are detected, but have no track."""
    path = write_session(tmp_path / "run" / "session.sqlite", {"a.mp4": 40}, boxes=3, apart=100)
    track_session(path)
    zones.write_text(json.dumps({**ZONES, "zones": [{"name": "yard", "points": [[600, 0], [630, 0], [630, 40]]}]}))
    done = run_main("results", path, "--zones", zones, "--quiet")
    assert done.status == 0, done.err
    expected = {"line-counts.csv": ["1", "0"], "line-totals.csv": ["1", "0"], "zone-counts.csv": ["0", "0"]}
    for table, counts in expected.items():
        column = "tracks" if table == "zone-counts.csv" else "backward"
        assert [(row["label"], row[column]) for row in rows(path.parent / table)] == [*zip(("person", "car"), counts, strict=True)], table


def test_totals_of_files_without_a_clock_time_count_from_their_first_frames(tmp_path, zones):
    """One file has a clock time, two have none; the times of the third begin late."""
    path = tmp_path / "run" / "session.sqlite"
    with SessionWriter(path, LABELS, {}) as writer:
        for number, (name, late) in enumerate({"cam_20261101_080000.mp4": 0.0, "b.mp4": 0.0, "c.mp4": 1000.25}.items()):
            writer.add_source(number, name, replace(video_info("", 40), origin=late))
            frames = [make_frame(number, index, boxes=1) for index in range(40)]
            writer.add_frames(replace(frame, ref=frame.ref._replace(pts=frame.ref.pts + late)) for frame in frames)
            writer.finish_source(number, name, Ledger(40, 40), 1.0)
    track_session(path)
    clock = ("--clock", "name", "--time-zone", "UTC")
    done = run_main("results", path, "--zones", zones, "--interval", "1s", *clock, "--quiet")
    assert done.status == 0, done.err
    names = ("line", "clock", "since_start", "files", "forward", "backward")
    assert [tuple(each[name] for name in names) for each in rows(path.parent / "line-totals.csv")] == [
        ("gate", "2026-11-01T08:00:00.000+00:00", "", "1", "0", "1"),
        ("gate", "2026-11-01T08:00:01.000+00:00", "", "1", "0", "0"),
        ("gate", "", "0.0", "2", "0", "2"),
        ("gate", "", "1.0", "2", "0", "0"),
    ]
    for table in ("line-counts.csv", "zone-counts.csv"):
        assert [each["start"] for each in rows(path.parent / table) if each["source"] == "c.mp4"] == ["1000.25", "1001.25"]


def test_the_first_interval_begins_with_the_file(tmp_path, zones):
    """The file begins at 8:10, in the quarter that begins at 8:00."""
    path = write_session(tmp_path / "run" / "session.sqlite", {"cam_20261101_081000.mp4": 40})
    track_session(path)
    clock = ("--clock", "name", "--time-zone", "UTC")
    done = run_main("results", path, "--zones", zones, "--format", "csv,zones", *clock, "--quiet")
    assert done.status == 0, done.err
    for table in ("counts.csv", "line-counts.csv", "zone-counts.csv"):
        first = rows(path.parent / table)[0]
        assert (first["start"], first["end"], first["clock"]) == ("0.0", "300.0", "2026-11-01T08:00:00.000+00:00"), table


def test_a_clock_that_jumped_makes_no_endless_table(tmp_path, zones):
    """The last frame is 40 years behind the others."""
    path = tmp_path / "run" / "session.sqlite"
    with SessionWriter(path, LABELS, {}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", 41))
        frames = [make_frame(0, index) for index in range(41)]
        writer.add_frames([*frames[:40], replace(frames[40], ref=frames[40].ref._replace(pts=40 * 365.25 * 86_400))])
        writer.finish_source(0, "a.mp4", Ledger(41, 41), 1.0)
    track_session(path)
    done = run_main("results", path, "--zones", zones, "--format", "zones", "--quiet")
    assert done.status == 1
    assert "by its times, a.mp4 lasts 14,610 days: more than 1,000,000 intervals. Choose a longer --interval" in done.err


def test_totals_add_files_of_one_moment_behind_a_change_of_the_clocks(tmp_path, zones):
    """The second file begins in the last second of the first one, after clocks went back from 3:00 to 2:00."""
    path = write_session(tmp_path / "run" / "session.sqlite", {"cam_20261025_025959+0200.mp4": 40, "cam_20261025_020000+0100.mp4": 8})
    track_session(path)
    done = run_main("results", path, "--zones", zones, "--interval", "1s", "--clock", "name", "--quiet")
    assert done.status == 0, done.err
    assert [(each["clock"], each["files"]) for each in rows(path.parent / "line-totals.csv")] == [
        ("2026-10-25T02:59:59.000+02:00", "1"),
        ("2026-10-25T02:00:00.000+01:00", "2"),
    ]


def test_events_name_the_best_moment_and_the_direction_and_fit_lines_to_the_size(tmp_path, zones):
    """The object is most confident in frame 30. The lines are drawn for pictures of twice the size, in the other direction."""
    with SessionWriter(tmp_path / "session.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "cam_20261101_080000.mp4", video_info("", 40))
        for index in range(40):
            frame = make_frame(0, index, boxes=1)
            found = replace(frame.detections, scores=np.full(1, 0.95 if index == 30 else 0.9, np.float32))
            writer.add_frames([replace(frame, found=found)])
    track_session(tmp_path / "session.sqlite")
    zones.write_text(
        json.dumps({"version": 1, "width": 1280, "height": 960, "lines": [{"name": "gate", "from": [40, 240], "to": [40, 0]}]})
    )
    clock = ("--clock", "name", "--time-zone", "UTC")
    done = run_main("results", tmp_path / "session.sqlite", "--format", "events", "--zones", zones, *clock)
    assert done.status == 0, done.err
    assert "lines and zones drawn for 1280×960 pixels are scaled to 640×480" in done.err
    seen, crossing = rows(tmp_path / "events.csv")
    assert (seen["confidence"], seen["best"], seen["clock"]) == ("0.95", "1.2", "2026-11-01T08:00:00.000+00:00")
    assert (crossing["place"], crossing["direction"], crossing["start"]) == ("gate", "forward", "0.59")


def test_events_with_and_without_zones(session, zones):
    assert run_main("results", session, "--format", "events").status == 0
    (seen,) = rows(session.parent / "events.csv")
    assert (seen["event"], seen["start"], seen["end"], seen["track"], seen["best"]) == ("appearance", "0.0", "1.6", "1", "0.0")
    assert run_main("results", session, "--format", "events", "--zones", zones).status == 0
    events = rows(session.parent / "events.csv")
    assert [(each["event"], each["place"], each["direction"]) for each in events] == [
        ("appearance", "", ""),
        ("visit", "yard", ""),
        ("crossing", "gate", "backward"),
    ]


def test_the_lines_and_zones_of_the_run_are_used_again(tmp_path):
    path = write_session(tmp_path / "session.sqlite", {"a.mp4": 40}, facts={"zones": json.dumps(ZONES)})
    track_session(path)
    done = run_main("results", path, "--format", "zones,events", "--quiet")
    assert (done.status, done.out.splitlines()[2]) == (0, "  gate                             0         1")
    assert [each["line"] for each in rows(tmp_path / "crossings.csv")] == ["gate"]
    assert [each["event"] for each in rows(tmp_path / "events.csv")] == ["appearance", "visit", "crossing"]
    assert "gate" not in run_main("results", path, "--format", "csv", "--quiet").out


def test_a_session_without_tracks_says_what_to_do(tmp_path, zones):
    path = write_session(tmp_path / "session.sqlite", {"a.mp4": 5})
    done = run_main("results", path, "--zones", zones)
    assert done.status == 2
    assert f"has no tracks, and lines and zones count tracks: 'framefleet track {tmp_path}' adds them" in done.err
    assert not (tmp_path / "crossings.csv").exists()


def test_zones_of_another_size_are_scaled_with_a_note(session, zones):
    zones.write_text(json.dumps(ZONES).replace("640", "1280").replace("480", "960").replace("20, 10", "40, 20").replace("20, 40", "40, 80"))
    for form in ("zones", "jsonl"):  # the counts are printed with every format
        done = run_main("results", session, "--zones", zones, "--format", form)
        assert done.status == 0
        assert done.err.count("a.mp4: lines and zones drawn for 1280×960 pixels are scaled to 640×480") == 1
    assert len(rows(session.parent / "crossings.csv")) == 1


def test_zones_of_another_shape_are_refused(session, zones):
    zones.write_text(json.dumps(ZONES | {"height": 640}))
    done = run_main("results", session, "--zones", zones)
    assert done.status == 1
    assert "drawn for pictures of 640×640 pixels, and a.mp4 has 640×480, which is another shape" in done.err


def test_a_video_of_another_shape_does_not_keep_the_others_from_being_counted(tmp_path, zones):
    path = tmp_path / "session.sqlite"
    with SessionWriter(path, LABELS, {}) as writer:
        for number, (name, height) in enumerate((("a.mp4", 480), ("wide.mp4", 360))):
            writer.add_source(number, name, replace(video_info(name, 40), height=height))
            writer.add_frames(make_frame(number, index) for index in range(40))
            writer.finish_source(number, name, Ledger(40, 40), 1.0)
    track_session(path)
    done = run_main("results", path, "--zones", zones, "--format", "zones,events", "--quiet")
    assert done.status == 1
    assert done.err.count("wide.mp4 has 640×360, which is another shape") == 1
    for table in ("crossings.csv", "line-counts.csv", "zone-times.csv", "zone-counts.csv", "routes.csv"):
        assert {each["source"] for each in rows(tmp_path / table)} == {"a.mp4"}
    events = [(each["source"], each["event"]) for each in rows(tmp_path / "events.csv")]
    assert events == [("a.mp4", "appearance"), ("a.mp4", "visit"), ("a.mp4", "crossing"), ("wide.mp4", "appearance")]
    chosen = run_main("results", path, "--zones", zones, "--source", "a.mp4", "--out", tmp_path / "one", "--quiet")
    assert (chosen.status, "wide.mp4" in chosen.out + chosen.err) == (0, False)


def test_videos_without_tracks_do_not_keep_the_others_from_being_counted(tmp_path, zones):
    path = tmp_path / "session.sqlite"
    write_session(path, {"a.mp4": 40, "b.mp4": 40})
    with SessionReader(path) as reader:
        track_source(path, 0, reader.frames(0))
    done = run_main("results", path, "--zones", zones, "--format", "zones,events", "--quiet")
    assert done.status == 1
    assert done.err.count("b.mp4 has no tracks, and lines and zones count tracks") == 1
    assert {each["source"] for each in rows(tmp_path / "crossings.csv")} == {"a.mp4"}
    assert {each["source"] for each in rows(tmp_path / "events.csv")} == {"a.mp4", "b.mp4"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--format", "zones"), "--format zones needs lines and zones, and the session has none: give --zones FILE"),
        (("--zones", "missing.json"), "missing.json does not exist"),
    ],
)
def test_wrong_usage(session, options, message):
    done = run_main("results", session, *options)
    assert done.status == 2
    assert message in done.err


def test_a_label_that_the_model_does_not_have(session, zones):
    zones.write_text(json.dumps(ZONES).replace("person", "persons"))
    done = run_main("results", session, "--zones", zones)
    assert done.status == 2
    assert "'yard' counts a class that the model does not have: this model has no class 'persons': did you mean person?" in done.err


def test_objects_in_zones_of_pictures_are_counted(tmp_path, zones):
    """The lower edge of the person is inside from x = 10 on; the line counts nothing."""
    path = tmp_path / "session.sqlite"
    with SessionWriter(path, LABELS, {}) as writer:
        writer.add_source(0, "yard", SourceInfo("yard", SourceKind.IMAGES, "jpeg", 640, 480, 20, None, None, ()))
        writer.add_frames(make_frame(0, index, name=f"{index}.jpg") for index in range(20))
    done = run_main("results", path, "--zones", zones, "--format", "jsonl", "--quiet")
    assert (done.status, done.out.splitlines()[:3]) == (
        0,
        [
            "yard:",
            "  zone                       objects   per picture      most",
            "  yard                            15          0.75         1",
        ],
    ), done.err
    zones.write_text(json.dumps(ZONES | {"height": 640}))
    assert "a picture of yard has 640×480, which is another shape" in run_main("results", path, "--zones", zones, "--format", "jsonl").out


def test_an_empty_file_is_refused(session, zones):
    zones.write_text(json.dumps(ZONES | {"lines": [], "zones": []}))
    done = run_main("results", session, "--zones", zones)
    assert done.status == 2
    assert "zones.json has no lines and no zones: nothing can be counted" in done.err


def test_counts_while_a_run_goes_on(tmp_path):
    """They are those of the stored frames, once a second, with the name of each line and zone."""
    zones, now = parse_zones(json.dumps(ZONES)), [100.0]
    path = tmp_path / "session.sqlite"
    with SessionWriter(path, LABELS, {"track": "bytetrack"}) as writer:
        live = LiveZones(path, zones, lambda: now[0])
        writer.add_source(0, "a.mp4", video_info("a.mp4", 40))
        writer.add_source(1, "b.mp4", replace(video_info("b.mp4", 40), width=480))
        assert live.text(0) == "", "nothing is stored"
        writer.add_frames(make_frame(source, index, boxes=1) for source in (0, 1) for index in range(40))
        writer.commit()
        assert live.text(0) == "", "too early"
        now[0] += 1
        assert live.text(0) == "gate: 0 forward, 1 backward; yard: 1 visit, 0.8 s each"
        now[0] += 1
        assert live.text(1) == "", "pictures of another shape"


def test_detect_tracks_and_counts(tmp_path):
    """The random network's objects cross nothing; the report has the key only if there are zones."""
    video = make_video(tmp_path / "a.mp4", frames=4)
    zones = tmp_path / "zones.json"
    size = {"width": 320, "height": 240}
    zones.write_text(json.dumps({"version": 1, **size, "lines": [{"name": "gate", "from": [20, 10], "to": [20, 40]}]}))
    done = run_main("detect", video, *FAST, "--zones", zones, "--out", tmp_path / "out", "--json", "--quiet")
    assert done.report["zones"] == [{"path": str(video), "counts": [{"line": "gate", "forward": 0, "backward": 0}]}]
    with SessionReader(tmp_path / "out" / DATABASE) as reader:
        assert parse_zones(reader.facts["zones"]) == read_zones(zones)
    zones.write_text(zones.read_text().replace("320", "240"))
    done = run_main("detect", video, *FAST, "--zones", zones, "--out", tmp_path / "out", "--json", "--quiet")
    assert (done.status, done.report["exit"]) == (1, "failed")
    assert "a.mp4 has 320×240, which is another shape" in done.report["zones"][0]["error"]
    refused = run_main("detect", video, *FAST, "--zones", zones, "--track", "none")
    assert refused.status == 2
    assert "--zones counts tracks" in refused.err
