"""The Export dialog, and exports that run while the window goes on."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import av
import pandas as pd
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.queue.item import ItemState, QueueItem
from framefleet.app.window.queue.item import Part as Range
from framefleet.app.window.results.export import ExportChoice, ExportDialog, Exports, command_of
from framefleet.app.window.results.export_options import FilterForm
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.engine.store.export import export_session
from framefleet.engine.store.exporters import EXPORTERS
from framefleet.engine.store.exporters.base import part_of
from framefleet.engine.store.exporters.options import Every, ExportOptions, Part, PictureFormat
from framefleet.engine.store.reader import View
from framefleet.engine.store.session import SessionReader, StoredSource
from framefleet.engine.zones.shapes import Line, ZoneSet
from framefleet.resources import DEMO
from tests.support.cli import run_main
from tests.support.media import make_video
from tests.support.store import write_session
from tests.support.window import feature, queue_item, write_results


@pytest.fixture
def window(shared_window: MainWindow) -> MainWindow:
    return shared_window


def detected(video: Path, frames: int) -> QueueItem:
    results = write_results(video.with_suffix(".sqlite"), video, frames)
    return queue_item(video, ItemState.DONE, results, frames=frames)


def to_video(item: QueueItem, folder: Path) -> ExportChoice:
    assert item.results is not None
    return ExportChoice(View(item.results.database, 0.25), (0,), ("video",), folder, ExportOptions())


@pytest.fixture(scope="module")
def lengthy(long: Path, tmp_path_factory: pytest.TempPathFactory) -> QueueItem:
    """A file whose annotated video takes seconds to write."""
    results = write_results(tmp_path_factory.mktemp("results") / "long.sqlite", long, 3000)
    return queue_item(long, ItemState.DONE, results, frames=3000)


def stored(folder: Path, *names: str) -> tuple[QueueItem, list[StoredSource]]:
    """The first one of these files in the queue, and all sources of the session that holds them."""
    database = write_session(folder / f"{len(names)}.sqlite", dict.fromkeys(names, 4))
    results = write_results(folder / "other.sqlite", Path("a.mp4"), 4)
    with SessionReader(database) as reader:
        return queue_item(Path("a.mp4"), ItemState.DONE, replace(results, database=database), frames=4), reader.sources()


@pytest.fixture
def dialog(qtbot: QtBot, tmp_path: Path) -> ExportDialog:
    """The dialog for the first of two files."""
    made = ExportDialog(*stored(tmp_path, "a.mp4", "b.mp4"), ViewFilter(0.5), ["csv"], tmp_path / "out")
    qtbot.addWidget(made)
    made.show()
    return made


def test_the_part_of_one_file_is_not_that_of_others(qtbot: QtBot, tmp_path: Path) -> None:
    one = ExportDialog(*stored(tmp_path, "a.mp4", "b.mp4"), ViewFilter(), ["csv"], tmp_path, part=Range(0.1, 0.2))
    qtbot.addWidget(one)
    part = one.choice.view.span
    assert part is not None
    one.files.combo.setCurrentIndex(1)
    assert one.choice.view.span is None
    one.files.combo.setCurrentIndex(0)
    assert one.choice.view.span == part
    one.filter.begin.setText("0.15s")
    typed = one.choice.view.span
    one.files.combo.setCurrentIndex(1)
    assert one.choice.view.span == typed != part, "a part that the user typed stays"


def test_counts_at_lines_of_another_camera_are_named_and_can_be_left_out(qtbot: QtBot, tmp_path: Path) -> None:
    item, sources = stored(tmp_path, "a.mp4", "b.mp4", "c.mp4")
    zones = ZoneSet((320, 240), (Line("gate", (0, 0), (9, 9)),))
    one = ExportDialog(item, sources, ViewFilter(), ["csv"], tmp_path, zones=zones, has_zones=lambda path: path.name != "b.mp4")
    qtbot.addWidget(one)
    assert one.files.combo.itemText(2) == "The 2 files with these lines and zones"
    one.files.combo.setCurrentIndex(1)
    assert not one.replaces.text(), "CSV tables do not count at lines"
    one.forms.choose(["events"])
    one.forms.changed.emit()
    assert one.replaces.text() == "Counts at these lines and zones also in files without them: b.mp4."
    one.files.combo.setCurrentIndex(2)
    assert (one.choice.only, one.replaces.text()) == ((0, 2), "")


def choose(dialog: ExportDialog, form: str) -> None:
    dialog.forms.choose([form])


def test_the_user_chooses_what_a_video_shows(dialog: ExportDialog) -> None:
    choose(dialog, "video")
    for part in (Part.BOXES, Part.HEAT):
        dialog.options.parts[part].click()
    assert dialog.choice.options.draw == {Part.IDS, Part.TRAILS, Part.ZONES, Part.HEAT}


def test_every_format_is_offered_with_its_options_only(dialog: ExportDialog) -> None:
    assert [dialog.forms.combo.itemData(index) for index in range(len(EXPORTERS))] == [*EXPORTERS]
    for name, exporter in EXPORTERS.items():
        choose(dialog, name)
        shown = {option for option, field in dialog.options.fields.items() if field.isVisible()}
        assert shown == set(exporter.options)
        assert dialog.purpose.text() == f"{exporter.purpose}."
        assert dialog.start.isEnabled() is (name != "zones")  # the file has none
        assert dialog.choice.options == ExportOptions()


def test_no_field_is_cut_off_whatever_the_format(qtbot: QtBot, dialog: ExportDialog) -> None:
    def cut() -> list[str]:
        fields = [each for each in dialog.findChildren(QWidget) if each.isVisible() and isinstance(each, QCheckBox | QComboBox | QLineEdit)]
        assert fields
        low = [each.accessibleName() for each in fields if each.visibleRegion().boundingRect().height() < each.sizeHint().height()]
        return low + [each.text() for each in fields if isinstance(each, QCheckBox) and each.width() < each.sizeHint().width()]

    for index in [*range(dialog.forms.combo.count()), 0, dialog.forms.combo.findData("csv")]:
        dialog.forms.combo.setCurrentIndex(index)
        qtbot.waitUntil(lambda: cut() == [])


def test_the_dialog_says_what_it_writes_and_what_it_replaces(dialog: ExportDialog, tmp_path: Path) -> None:
    assert dialog.writes.text() == "Writes a.detections.csv, counts.csv, files.csv."
    assert not dialog.replaces.isVisible()
    dialog.files.combo.setCurrentIndex(1)
    assert dialog.choice.only is None
    assert dialog.writes.text() == "Writes a.detections.csv, b.detections.csv, counts.csv, files.csv."
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "b.jsonl").touch()
    choose(dialog, "jsonl")
    assert dialog.replaces.text() == "Keeps what is there already: b.jsonl."
    assert dialog.writes.text() == "Writes a-2.jsonl, b-2.jsonl.", "all files of one export have the same number"

    def write() -> list[str]:
        choice = dialog.choice
        with SessionReader.of(choice.view) as reader:
            made = export_session(reader, choice.folder, choice.forms, only=choice.only, whole=False, together=True)
        dialog.forms.changed.emit()
        return [each.path.name for each in made]

    assert write() == ["a-2.jsonl", "b-2.jsonl"]
    assert dialog.replaces.text().splitlines() == [
        "Replaces your earlier export: a-2.jsonl, b-2.jsonl.",
        "Keeps what is there already: b.jsonl.",
    ]
    assert write() == ["a-2.jsonl", "b-2.jsonl"]
    dialog.files.combo.setCurrentIndex(0)
    assert (write(), dialog.replaces.text()) == (["a.jsonl"], "Replaces your earlier export: a.jsonl.")


def test_a_file_that_was_not_opened_says_so_and_the_demo_is_not_written_into_the_program(
    qtbot: QtBot, window: MainWindow, dialog: ExportDialog, tmp_path: Path
) -> None:
    with SessionReader(dialog.choice.view.path) as reader:
        sources = [replace(source, info=None) for source in reader.sources()[:1]]
    results = write_results(tmp_path / "demo.sqlite", DEMO.clip, 4)
    item = queue_item(DEMO.clip, ItemState.DONE, results, frames=4)
    unopened = ExportDialog(item, sources, ViewFilter(), ["csv"], tmp_path)
    qtbot.addWidget(unopened)
    assert "was not opened" in unopened.problem.text()
    feature(window, Exports).ask(item, ViewFilter())
    (asked,) = window.findChildren(ExportDialog)
    assert asked.folder.path == Path.home()


def test_what_cannot_be_written_is_said_before(dialog: ExportDialog) -> None:
    dialog.folder.set_path("")
    assert (dialog.problem.text(), dialog.start.isEnabled()) == ("Choose a folder.", False)
    dialog.folder.set_path(f"/{'n' * 300}")
    assert "File name too long" in dialog.problem.text()
    choose(dialog, "megadetector")
    dialog.folder.set_path("/tmp")
    dialog.options.map.setText("dog")
    assert "maps no labels" in dialog.problem.text()
    dialog.options.map.setText("person=human")
    assert dialog.start.isEnabled()
    assert dialog.choice.options == ExportOptions(category_map={"person": "human"})
    choose(dialog, "coco")
    dialog.options.coco_ids.setChecked(True)
    assert "COCO" in dialog.problem.text()
    choose(dialog, "yolo")
    dialog.options.doubtful.setChecked(True)
    dialog.options.low.set_share(0.8)
    assert "must not be above" in dialog.problem.text()


def test_options_of_a_training_set(dialog: ExportDialog) -> None:
    choose(dialog, "yolo")
    dialog.options.pictures.setCurrentIndex(1)
    dialog.options.every.setCurrentIndex(3)
    dialog.options.doubtful.setChecked(True)
    expected = ExportOptions(pictures=PictureFormat.JPEG, every=Every(seconds=1.0), between=(0.3, 0.6))
    assert dialog.choice.options == expected


def test_tables_of_what_the_window_shows(qtbot: QtBot, window: MainWindow, dialog: ExportDialog, tmp_path: Path) -> None:
    dialog.files.combo.setCurrentIndex(1)
    dialog.filter.confidence.set_share(0.85)
    feature(window, Exports).start(dialog.choice)
    qtbot.waitUntil(lambda: window.context.activity.text.text() == "Exported 4 files")
    assert set(pd.read_csv(tmp_path / "out" / "b.detections.csv").label) == {"person"}
    assert list(pd.read_csv(tmp_path / "out" / "files.csv").file) == ["a.mp4", "b.mp4"]


def test_some_files_of_a_run(dialog: ExportDialog) -> None:
    dialog.files.combo.setCurrentIndex(2)
    assert dialog.choice.only == (0,)
    dialog.files.list.item(0).setCheckState(Qt.CheckState.Unchecked)
    assert (dialog.problem.text(), dialog.start.isEnabled()) == ("Choose at least one file.", False)
    dialog.files.list.item(1).setCheckState(Qt.CheckState.Checked)
    assert dialog.choice.only == (1,)
    assert dialog.writes.text() == "Writes b.detections.csv, counts.csv, files.csv."


def test_several_formats_share_one_export(qtbot: QtBot, window: MainWindow, dialog: ExportDialog, tmp_path: Path) -> None:
    choose(dialog, "coco")
    dialog.forms.combo.setCurrentIndex(dialog.forms.combo.count() - 1)
    assert dialog.choice.forms == ("coco",)  # the list begins with it
    for line in dialog.forms.lines:
        line.setCheckState(Qt.CheckState.Checked if line.text() in ("CSV tables", "COCO") else Qt.CheckState.Unchecked)
    assert dialog.choice.forms == ("csv", "coco")
    assert dialog.options.fields["interval"].isVisible()
    assert dialog.options.fields["coco_ids"].isVisible()
    feature(window, Exports).start(dialog.choice)
    qtbot.waitUntil(lambda: window.context.activity.text.text() == "Exported 4 files")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.coco.json", "a.detections.csv", "counts.csv", "files.csv"]
    heading = next(label for label in dialog.findChildren(QLabel) if label.text() == "Format")
    assert dialog.forms.list.isVisible()
    assert heading.geometry().center().y() == dialog.forms.combo.geometry().center().y()  # not beside the middle of the list
    dialog.forms.choose(["zones", "csv"])
    assert not dialog.start.isEnabled()
    dialog.forms.choose([])
    assert dialog.problem.text() == "Choose at least one format."


def test_classes_are_ticked_in_a_list(dialog: ExportDialog) -> None:
    assert dialog.choice.view.classes is None
    dialog.filter.classes.choose((0, 2))
    assert dialog.choice.view.classes == {0, 2}
    for line in dialog.filter.classes.lines:
        line.setCheckState(Qt.CheckState.Unchecked)
    assert (dialog.problem.text(), dialog.start.isEnabled()) == ("Choose at least one class.", False)
    dialog.filter.classes.choose((1,))
    assert dialog.choice.view.classes == {1}


def test_the_part_that_is_chosen_on_the_timeline_is_offered(qtbot: QtBot, dialog: ExportDialog) -> None:
    frame = 1 / 30
    for part, pictures, texts in (
        (Range(10 * frame, 40 * frame), False, ("0.334s", "1.333s")),  # the frames 10 to 39
        (Range(3.0, 7.0), True, ("3", "7")),
    ):
        form = FilterForm(("person",), ViewFilter(), part, pictures)
        qtbot.addWidget(form)
        assert (form.begin.text(), form.end.text()) == texts


@pytest.mark.parametrize(
    ("field", "text", "problem"),
    [
        ("begin", "x", "'x' cannot be used: give a time such as 90s or 1:02.5"),
        ("begin", "9s", "The part from 9s to 5s is empty"),
        ("numbers", "a", "Give the numbers of the tracks"),
    ],
)
def test_fields_that_cannot_be_used_say_why(dialog: ExportDialog, field: str, text: str, problem: str) -> None:
    dialog.filter.end.setText("5s")
    dialog.filter.tracks.setCurrentIndex(2 if field == "numbers" else 0)
    assert dialog.start.isEnabled() is (field != "numbers")
    getattr(dialog.filter, field).setText(text)
    assert dialog.problem.text().startswith(problem)
    assert (dialog.start.isEnabled(), dialog.command.text()) == (False, "")


def test_the_copied_command_writes_the_same_files(qtbot: QtBot, window: MainWindow, dialog: ExportDialog, tmp_path: Path) -> None:
    dialog.files.combo.setCurrentIndex(2)
    dialog.filter.begin.setText("1")
    dialog.filter.end.setText("0.12s")
    dialog.filter.confidence.set_share(0.85)
    dialog.filter.classes.choose((0, 2))
    dialog.forms.choose(["csv", "coco"])
    dialog.options.interval.setCurrentIndex(0)
    dialog.options.bom.setChecked(True)
    dialog.options.one_table.setChecked(True)
    dialog.options.least_seen.setCurrentIndex(2)
    dialog.copy.click()
    command = QGuiApplication.clipboard().text()
    program, name, *arguments = shlex.split(command)
    assert (program, name) == ("framefleet", "results")
    feature(window, Exports).start(dialog.choice)
    qtbot.waitUntil(lambda: window.context.activity.text.text() == "Exported 4 files")
    arguments[arguments.index("--out") + 1] = str(tmp_path / "again")
    run = run_main("results", *arguments)
    assert run.status == 0, run.err
    written = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()} == written
    assert len(pd.read_csv(tmp_path / "out" / "detections.csv")) == 2  # the frames 1 and 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (ExportOptions(), ""),
        (ExportOptions(coco_ids=True), "--coco-ids"),
        (
            ExportOptions(pictures=PictureFormat.PNG, every=Every(frames=5), between=(0.3, 0.6)),
            "--pictures png --every 5 --between 0.3,0.6",
        ),
        (ExportOptions(every=Every(seconds=60.0)), "--every 60s"),
        (ExportOptions(category_map={"dog": "animal", "van": "big vehicle"}), "--category-map 'dog=animal,van=big vehicle'"),
        (ExportOptions(draw=frozenset((Part.IDS, Part.BOXES))), "--draw boxes,ids"),
    ],
)
def test_options_as_words_of_a_command(tmp_path: Path, options: ExportOptions, words: str) -> None:
    database = write_session(tmp_path / "s.sqlite", {"a.mp4": 2})
    view = View(database, 0.5, frozenset((0, 2)), tracks=frozenset())
    rest = f"--confidence 0.5 --classes person,car --tracks any {words}".strip()
    assert command_of(view, ["a.mp4"], ["yolo"], Path("/out"), options) == (
        f"framefleet results {database} --format yolo --out /out --source a.mp4 {rest}"
    )


def test_progress_and_outcome_do_not_move_the_window_s_layout(qtbot: QtBot, window: MainWindow) -> None:
    window.show()
    window.context.activity.show_done("first")  # the layout is computed with the line's widgets
    window.context.activity.hide()
    qtbot.waitExposed(window)
    height, place = window.status.height(), window.columns.geometry()
    window.context.activity.show_progress("Writing a.csv: 40 %", 0.4, lambda: None)
    QGuiApplication.processEvents()
    assert (window.status.height(), window.columns.geometry()) == (height, place)
    window.context.activity.show_done("Exported a.csv", lambda: None)
    QGuiApplication.processEvents()
    assert (window.status.height(), window.columns.geometry()) == (height, place)
    text, narrowest = window.context.activity.text, window.status.minimumSizeHint().width()
    assert text.width() == text.sizeHint().width(), "all of a short text can be read"
    window.context.activity.show_done(f"Exported {'a long name ' * 50}.csv", lambda: None)
    QGuiApplication.processEvents()
    assert window.status.minimumSizeHint().width() == narrowest
    qtbot.waitUntil(lambda: text.width() > 300)
    window.context.activity.show_done(["first", "second"])
    assert (text.text(), text.toolTip()) == ("first · second", "first\nsecond")


def test_an_annotated_video_is_written_while_the_window_goes_on(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    item = detected(make_video(tmp_path / "a.mp4", 40), 40)
    feature(window, Exports).start(to_video(item, tmp_path / "out"))
    line = window.context.activity
    assert (line.text.text(), line.cancel.isHidden()) == ("Exporting as Annotated video…", False)
    qtbot.waitUntil(lambda: line.text.text() == "Exported a.annotated.mp4 (40 frames)")
    assert (line.cancel.isHidden(), line.reveal.isHidden()) == (True, False)
    assert window.context.banners.texts == []
    with av.open(str(tmp_path / "out" / "a.annotated.mp4")) as container:
        assert len(list(container.decode(video=0))) == 40


def test_an_export_shows_its_progress_and_can_be_cancelled(qtbot: QtBot, window: MainWindow, lengthy: QueueItem, tmp_path: Path) -> None:
    feature(window, Exports).start(to_video(lengthy, tmp_path / "out"))
    qtbot.waitUntil(lambda: window.context.activity.text.text().endswith(" %"))
    window.context.activity.cancel.click()
    qtbot.waitUntil(lambda: "was cancelled" in window.context.activity.text.text())
    assert window.context.activity.reveal.isHidden()
    assert list((tmp_path / "out").iterdir()) == []


def test_closing_the_window_gives_exports_up(
    qtbot: QtBot, open_window: Callable[..., MainWindow], lengthy: QueueItem, tmp_path: Path
) -> None:
    window = open_window()
    feature(window, Exports).start(to_video(lengthy, tmp_path / "out"))
    qtbot.waitUntil(lambda: window.context.activity.text.text().endswith(" %"))
    window.close()
    assert list((tmp_path / "out").iterdir()) == []


def test_a_failed_export_says_why(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    video = make_video(tmp_path / "a.mp4", 10)
    item = detected(video, 10)
    video.unlink()
    feature(window, Exports).start(to_video(item, tmp_path / "out"))
    qtbot.waitUntil(lambda: any("a.mp4 does not exist" in text for text in window.context.banners.texts))
    assert not part_of(tmp_path / "out" / "a.annotated.mp4").exists()


def test_without_a_file_the_action_says_what_to_do(window: MainWindow) -> None:
    window.context.actions.export.trigger()
    assert window.context.banners.texts == ["There is nothing to export yet: Open a file or stored results first."]
