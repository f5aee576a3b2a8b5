"""Lets the user correct the objects in the picture, by mouse and keys."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QMouseEvent, QShortcut
from PySide6.QtWidgets import QWidget

from framefleet.app.window.context import Context, Feature
from framefleet.app.window.corrections.bar import BUTTONS, CorrectionBar
from framefleet.app.window.corrections.correction import Correction
from framefleet.app.window.corrections.recount import Recount
from framefleet.app.window.keys import undo_keys
from framefleet.app.window.keys.bindings import Shortcuts
from framefleet.app.window.session.background import Background
from framefleet.app.window.viewer.viewer import Viewer
from framefleet.app.window.widgets import formats
from framefleet.app.window.widgets.translation import marked, translate
from framefleet.engine.store.objects.corrections import Edit, undoable

_NOTHING = marked("corrections", "Click an object, or press {key}")
_DONE = {
    "confirm": marked("corrections", "{object} confirmed"),
    "delete": marked("corrections", "{object} deleted"),
    "relabel": marked("corrections", "{object} is now {label}"),
    "split": marked("corrections", "track {track} split"),
    "join": marked("corrections", "tracks {joined} and {track} joined"),
}
"""What each correction did."""
_UNDOES = marked("corrections", "{done} · {undo} undoes")
_SAID = {
    "undo": marked("corrections", "Undone: {done} · {redo} does it again"),
    "redo": marked("corrections", "Done again: {done} · {undo} undoes"),
}
_KEEPS = ("confirm", "split", "join")
"""Corrections after which the same detections are visible, in the same order."""
_NONE = {"undo": marked("corrections", "Nothing to undo"), "redo": marked("corrections", "Nothing to do again")}


class Corrector(QObject):
    """Corrects the session of the shown file. The keys act while the bar is shown.

    corrected: the key of the file whose results have changed. Attributes: bar: belongs under the picture.
    """

    corrected = Signal(int)

    def __init__(self, viewer: Viewer, background: Background, window: QWidget) -> None:
        super().__init__(window)
        self._viewer, self._canvas, self._background = viewer, viewer.canvas, background
        self.bar = CorrectionBar(viewer.bindings)
        self.bar.hide()
        self._selected: int | None = None
        self._joining: int | None = None
        self._frame: int | None = None
        self._busy = False
        self._outdated = False  # whether the canvas shows the detections from before the last correction
        self._database: Path | None = None  # the session whose edits the bar knows
        self._words: dict[tuple[Path, int], str] = {}  # what the edits of each session did, by their numbers
        acts: dict[str, Callable[[], object]] = {f"correct/{name}": partial(self._act, name) for name, _, _ in BUTTONS}
        acts |= {"correct/next": partial(self._step, 1), "correct/previous": partial(self._step, -1)}
        acts |= {"correct/class": self._choose_class, "correct/track": self.bar.track.toggle}
        self._shortcuts = Shortcuts(viewer, viewer.bindings, acts, enabled=False)
        self._nothing = QShortcut(QKeySequence(Qt.Key.Key_Escape), viewer, self._select_nothing, enabled=False)
        self.bar.asked.connect(self._act)
        self.bar.relabelled.connect(lambda class_id: self._act("relabel", class_id))
        viewer.player.shown.connect(self._picture_changed)
        viewer.player.result.connect(self._picture_changed)
        self._canvas.unmarked.connect(self._unmarked)
        self._watched = (self._canvas, window)

    def set_shown(self, shown: bool) -> None:
        """Show or hide the bar. The player stops, because a moving picture cannot be corrected."""
        self.bar.setVisible(shown)
        self._shortcuts.set_enabled(shown)
        for watched in self._watched:  # only then: a filter in Python costs time at each event of a playing video
            watched.removeEventFilter(self)
            if shown:
                watched.installEventFilter(self)
        if shown:
            self._viewer.player.pause()
            self._read_edits()
        self._select(None)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Select the object under the mouse when the user clicks it. Undo and redo concern corrections while the bar is visible."""
        if self.bar.isVisible():
            if watched is self._canvas and event.type() is QEvent.Type.MouseButtonPress and isinstance(event, QMouseEvent):
                overlay = self._canvas.overlay
                self._select(overlay.at(event.position()) if overlay is not None else None)
            elif watched is not self._canvas and undo_keys.takes(event):
                return True
            elif watched is not self._canvas and event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
                return undo_keys.press(event, partial(self._act, "undo"), partial(self._act, "redo"))
        return super().eventFilter(watched, event)

    def _unmarked(self) -> None:
        """Forget the object: others are visible now, or those of another file."""
        if self._canvas.placement is None:
            self._joining, self._outdated = None, False
        if self.bar.isVisible():
            self._select(None)

    def _picture_changed(self) -> None:
        self._outdated = False
        result = self._canvas.result
        frame = None if result is None else result.ref.index
        if self.bar.isVisible():
            if self._shown_database != self._database:
                self._read_edits()
            if frame != self._frame or not self.bar.refused:  # a refusal stays while the picture is the same
                self._select(self._selected if frame == self._frame else None)
            if frame != self._frame:
                self.bar.tell("")
        self._frame = frame

    @property
    def _shown_database(self) -> Path | None:
        item = self._viewer.item
        return item.results.database if item is not None and item.results is not None else None

    def _read_edits(self) -> None:
        """Find out whether there is something to undo."""
        self._database = self._shown_database
        if self._database is None:
            self.bar.set_undoable(False, False)
        else:
            self._background.start(self, partial(undoable, self._database), lambda found: self.bar.set_undoable(*found), self._failed)

    def _step(self, by: int) -> None:
        count = len(self._canvas.visible_detections)
        if count:
            self._viewer.player.pause()
            begin = -1 if by > 0 else 0
            self._select(((begin if self._selected is None else self._selected) + by) % count)

    def _choose_class(self) -> None:
        """Open the list of classes: typing finds one, Enter takes it."""
        if self.bar.classes.isEnabled():
            self.bar.classes.setFocus()
            self.bar.classes.showPopup()

    def _select_nothing(self) -> None:
        self._joining = None
        self._select(None)

    def _select(self, index: int | None) -> None:
        found = self._canvas.visible_detections
        if index != self._selected:
            self.bar.tell("")
        self._selected = index if index is not None and index < len(found) else None
        self._canvas.select(self._selected)
        self._nothing.setEnabled(self._selected is not None or self._joining is not None)  # else Escape leaves full screen
        self.bar.set_labels(self._labels)
        if self._selected is None:
            self.bar.show_selected(translate("corrections", _NOTHING).format(key=self._viewer.bindings.short("correct/next")), None, None)
            return
        class_id, track = int(found.class_ids[self._selected]), self._track
        words = [self._canvas.label_of(class_id)]
        if track is not None:
            words.append(translate("corrections", "track {number}").format(number=track))
        if found.verified is not None and found.verified[self._selected]:
            words.append(translate("corrections", "verified"))
        if self._joining is not None:
            ask = (
                translate("corrections", "select the other track and press {key}")
                if self._joining == track
                else translate("corrections", "press {key} to join it with track {number}")
            )
            words.append(ask.format(key=self._viewer.bindings.short("correct/join"), number=self._joining))
        self.bar.show_selected(" · ".join(words), class_id, track)

    @property
    def _labels(self) -> tuple[str, ...]:
        item = self._viewer.item
        return item.results.labels if item is not None and item.results is not None else ()

    @property
    def _track(self) -> int | None:
        tracks = self._canvas.visible_detections.tracks
        if self._selected is None or tracks is None or tracks[self._selected] < 0:
            return None
        return int(tracks[self._selected])

    def _act(self, name: str, class_id: int = 0) -> None:
        item, frame, selected, track = self._viewer.item, self._frame, self._selected, self._track
        if self._busy or item is None or item.results is None or item.results.source < 0:
            return
        if name == "join" and track is not None and self._joining in (None, track):
            self._joining = track
            self._select(selected)
            return
        if name not in ("undo", "redo") and (
            self._outdated or frame is None or selected is None or (name in ("join", "split") and track is None)
        ):
            return
        joining, self._joining = self._joining, None
        whole, results, shown = self.bar.track.isChecked() and track is not None, item.results, self._canvas.filter
        done = self._describe(name, class_id, joining, whole)
        work = Correction(name, results, shown, frame, selected, track, whole, class_id, joining).make
        self._busy = True
        self._viewer.player.pause()
        self._background.start(self, work, partial(self._done, item.key, results.database, name, done), self._failed)

    def _describe(self, name: str, class_id: int, joined: int | None, whole: bool) -> str:
        """What a correction of the selected object does, in words."""
        if self._selected is None or name not in _DONE:
            return ""
        label, track = self._canvas.label_of(int(self._canvas.visible_detections.class_ids[self._selected])), self._track
        chosen = translate("corrections", "track {track} ({label})").format(track=track, label=label) if whole else label
        words = translate("corrections", _DONE[name])
        return words.format(object=chosen, label=self._canvas.label_of(class_id), track=track, joined=joined)

    def _done(self, key: int, database: Path, name: str, done: str, edit: Edit | None) -> None:
        self._busy, self._outdated = False, name not in _KEEPS
        self.corrected.emit(key)
        self._read_edits()
        self._select(self._selected)  # instead of an earlier refusal
        if edit is None:
            self.bar.tell(translate("corrections", _NONE[name]))
        else:
            if name not in _SAID:
                self._words[database, edit.number] = done
            said = translate("corrections", _SAID.get(name, _UNDOES))
            keys = {each: self._viewer.bindings.short(f"correct/{each}") for each in _SAID}
            self.bar.tell(said.format(done=self._words.get((database, edit.number), edit.words), **keys))
        self._viewer.player.reread()

    def _failed(self, message: str) -> None:
        self._busy = False
        self.bar.say(formats.capitalised(message))


def attach(context: Context) -> Feature:
    """Let the user correct results, and count corrected files again."""
    corrector = Corrector(context.viewer, context.background, context.window)
    recount = Recount(context.queue, context.run, context.background, context.window)
    context.viewer.add_bar(corrector.bar)
    context.actions.correct.toggled.connect(corrector.set_shown)
    corrector.corrected.connect(context.run.corrected)
    context.run.corrected.connect(recount.ask)
    return Feature()
