"""Lets the user correct the objects in the picture, by mouse and keys."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeySequence, QMouseEvent, QShortcut, QUndoCommand

from framefleet.app.window.context import Context, Feature
from framefleet.app.window.corrections import bar, drawing
from framefleet.app.window.keys.bindings import Shortcuts
from framefleet.app.window.queue.item import Results
from framefleet.app.window.selection import Target
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.widgets.translation import marked, of_engine, translate
from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import Notice, UsageError, literal
from framefleet.engine.store.corrections import Box, Chosen, Corrections, Edit, OneDetection, OneTrack, undoable
from framefleet.engine.store.session import SessionReader

_NOTHING = marked("corrections", "Click an object, or press {key}")
_DONE = {
    "confirm": marked("corrections", "{object} confirmed"),
    "delete": marked("corrections", "{object} deleted"),
    "relabel": marked("corrections", "{object} is now {label}"),
    "split": marked("corrections", "track {track} split"),
    "join": marked("corrections", "tracks {joined} and {track} joined"),
    "add": marked("corrections", "{label} added"),
    "move": marked("corrections", "box of {object} moved"),
}
"""What each correction did."""
_KEEPS = ("confirm", "split", "join")
"""Corrections after which the same detections are visible, in the same order."""


class Corrector(QObject):
    """Corrects the session of the shown file. The keys act while the bar is shown.

    corrected: the key of the file whose results have changed.
    Attributes: bar: belongs under the picture. busy: whether a correction is being made.
    """

    corrected = Signal(int)

    def __init__(self, context: Context) -> None:
        super().__init__(context.window)
        viewer, selection = context.viewer, context.selection
        self._viewer, self._canvas, self._background = viewer, viewer.canvas, context.background
        self._actions, self._undo, self._selection = context.actions, context.undo, selection
        self.bar = bar.CorrectionBar(viewer.bindings)
        self.bar.hide()
        self.drawing = drawing.BoxDrawing(viewer.canvas, lambda: selection.object, self)
        self.drawing.drawn.connect(lambda box: self._act("add", self.bar.classes.currentIndex(), box))
        self.drawing.moved.connect(lambda box: self._act("move", box=box))
        self.bar.draw.toggled.connect(self._set_drawing)
        self.bar.classes.activated.connect(lambda _: self._select(None) if self.drawing.new else None)
        self._joining: int | None = None
        self._frame: int | None = None
        self._position: float | None = None
        self.busy = False
        self._waiting: deque[Callable[[], None]] = deque()  # what to undo and redo when the correction under way is made
        self._outdated = False  # whether the canvas shows the detections from before the last correction
        self._database: Path | None = None  # the session whose edits the bar knows
        acts: dict[str, Callable[[], object]] = {f"correct/{name}": partial(self._act, name) for name in _KEEPS}
        acts |= {"correct/next": partial(self._step, 1), "correct/previous": partial(self._step, -1)}
        acts |= {"correct/class": self._choose_class, "correct/track": self.bar.track.toggle, "correct/draw": self.bar.draw.toggle}
        self._shortcuts = Shortcuts(viewer, viewer.bindings, acts, enabled=False)
        self._nothing = QShortcut(QKeySequence(Qt.Key.Key_Escape), viewer, self._select_nothing, enabled=False)
        self.bar.asked.connect(self._act)
        self.bar.relabelled.connect(lambda class_id: self._act("relabel", class_id))
        self.bar.earlier.clicked.connect(self._undo_earlier)
        context.actions.delete.triggered.connect(lambda: self._act("delete") if selection.target is Target.OBJECT else None)
        selection.target_changed.connect(self._target_changed)
        viewer.player.shown.connect(self._picture_changed)
        viewer.player.result.connect(self._picture_changed)
        self._canvas.unmarked.connect(self._unmarked)

    def set_shown(self, shown: bool) -> None:
        """Show or hide the bar. The player stops, because a moving picture cannot be corrected."""
        self.bar.setVisible(shown)
        self._shortcuts.set_enabled(shown)
        self.bar.draw.setChecked(False)
        self.drawing.set_shown(shown)
        self._canvas.removeEventFilter(self)
        if shown:  # only then: a filter in Python costs time at each event of a playing video
            self._canvas.installEventFilter(self)
        if shown:
            self._viewer.player.pause()
            self._read_edits()
        self._select(None)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Draw, move a corner, or select the object under the mouse when the user clicks it."""
        if self.bar.isVisible() and not self.busy and not self._outdated and self.drawing.handle(event):
            return True
        if self.bar.isVisible() and event.type() is QEvent.Type.MouseButtonPress and isinstance(event, QMouseEvent):
            overlay = self._canvas.overlay
            self._select(overlay.at(event.position()) if overlay is not None else None)
        return super().eventFilter(watched, event)

    def _set_drawing(self, new: bool) -> None:
        """Let the mouse draw a missing object, or select objects again."""
        self._viewer.player.pause()
        self.drawing.set_new(new)
        self._select(None)

    def _target_changed(self, target: Target | None) -> None:
        """Deselect the object when the user has selected something of another kind."""
        if target is not Target.OBJECT and self._selection.object is not None:
            self._select(None)

    def _unmarked(self) -> None:
        """Forget the object: others are visible now, or those of another file."""
        if self._canvas.placement is None:
            self._joining, self._outdated = None, False
        if self.bar.isVisible():
            self._select(None)

    def _picture_changed(self) -> None:
        result, before = self._canvas.result, self._position
        self._position = self._viewer.player.position
        if result is None and self._position == before:
            return  # its detections are being read again
        self._outdated = False
        frame = None if result is None else result.ref.index
        self.drawing.forget(under_way=frame != self._frame)  # the same picture comes again in another size, for example
        if self.bar.isVisible():
            if self._shown_database != self._database:
                self._read_edits()
            if frame != self._frame or not self.bar.refused:  # a refusal stays while the picture is the same
                self._select(self._selection.object if frame == self._frame else None)
        self._frame = frame

    @property
    def _shown_database(self) -> Path | None:
        item = self._viewer.item
        return item.results.database if item is not None and item.results is not None else None

    def _read_edits(self) -> None:
        """Offer to undo a correction of an earlier run of the program, if the undo stack holds no later one."""
        self._database = database = self._shown_database
        commands = (self._undo.command(index) for index in range(self._undo.index() - 1, -1, -1))
        last = next((each for each in commands if isinstance(each, _CorrectionCommand) and each.database == database), None)
        if database is None or (last is not None and not last.undone):
            self.bar.earlier.hide()
        else:

            def found(can: tuple[bool, bool]) -> None:
                if database == self._shown_database:  # else another file is shown since then
                    self.bar.earlier.setVisible(can[0])

            def failed(message: Notice) -> None:
                if database == self._shown_database:
                    self.bar.say(of_engine(message, capital=True))

            self._background.start(self, partial(undoable, database), found, failed)

    def _step(self, by: int) -> None:
        count, selected = len(self._canvas.visible_detections), self._selection.object
        if count:
            self._viewer.player.pause()
            begin = -1 if by > 0 else 0
            self._select(((begin if selected is None else selected) + by) % count)

    def _choose_class(self) -> None:
        """Open the list of classes: typing finds one, Enter takes it."""
        if self.bar.classes.isEnabled():
            self.bar.classes.setFocus()
            self.bar.classes.showPopup()

    def _select_nothing(self) -> None:
        self._joining = None
        self.bar.draw.setChecked(False)
        self._select(None)

    def _select(self, index: int | None) -> None:
        found = self._canvas.visible_detections
        selected = index if index is not None and index < len(found) else None
        self._selection.select_object(selected)
        self._nothing.setEnabled(selected is not None or self._joining is not None or self.drawing.new)  # else Escape leaves full screen
        self.bar.set_labels(self._labels)
        if selected is None and self.drawing.new:
            asked = translate("corrections", "Draw the box of a missing object of the class {label}; another class: {key}")
            key = self._viewer.bindings.short("correct/class")
            self.bar.show_selected([asked.format(label=self.bar.classes.currentText(), key=key)], None, None)
            return
        if selected is None:
            nothing = translate("corrections", _NOTHING).format(key=self._viewer.bindings.short("correct/next"))
            self.bar.show_selected([nothing], None, None)
            return
        class_id, track = int(found.class_ids[selected]), self._track
        words = [self._canvas.label_of(class_id)]
        if track is not None:
            words.append(translate("corrections", "track {number}").format(number=track))
        if found.verified is not None and found.verified[selected]:
            words.append(translate("corrections", "verified"))
        if self._joining is not None:
            ask = (
                translate("corrections", "Select the other track and press {key}")
                if self._joining == track
                else translate("corrections", "Press {key} to join it with track {number}")
            )
            words.insert(0, ask.format(key=self._viewer.bindings.short("correct/join"), number=self._joining))
        self.bar.show_selected(words, class_id, track)

    @property
    def _labels(self) -> tuple[str, ...]:
        item = self._viewer.item
        return item.results.labels if item is not None and item.results is not None else ()

    @property
    def _track(self) -> int | None:
        tracks, selected = self._canvas.visible_detections.tracks, self._selection.object
        if selected is None or tracks is None or tracks[selected] < 0:
            return None
        return int(tracks[selected])

    def _act(self, name: str, class_id: int = 0, box: Box | None = None) -> None:
        """Correct the selected object, or add one. box: of the object from now on."""
        item, frame, selected, track = self._viewer.item, self._frame, self._selection.object, self._track
        if self.busy or item is None or item.results is None or item.results.source < 0 or self._canvas.result is None:
            return
        if name == "join" and track is not None and self._joining in (None, track):
            self._joining = track
            self._select(selected)
            return
        if name != "add" and selected is None:
            return
        if self._outdated or frame is None or (name in ("join", "split") and track is None):
            return
        joining, self._joining = self._joining, None
        whole, results, shown = self.bar.track.isChecked() and track is not None, item.results, self._canvas.filter
        done = of_engine(literal(self._describe(name, selected, class_id, joining, whole)), capital=True)
        work = Correction(name, results, shown, frame, selected, track, whole, class_id, joining, box).make

        def push(edit: Edit | None) -> None:
            if edit is not None:
                self._undo.push(_CorrectionCommand(self, done, item.key, results, edit.number))
                self._actions.offer_undo(done)

        self._start(work, item.key, name, push)

    def _undo_earlier(self) -> None:
        """Undo the last correction of an earlier run of the program. This can be undone, too."""
        item = self._viewer.item
        if self.busy or item is None or item.results is None or item.results.source < 0:
            return
        results = item.results

        def push(edit: Edit | None) -> None:
            if edit is not None:
                words = translate("corrections", "Undo: {done}").format(done=edit.words)
                self._undo.push(_CorrectionCommand(self, words, item.key, results, edit.number, undone=True))
                self._actions.offer_undo(words)

        self._start(partial(exchange, results, "undo"), item.key, "undo", push)

    def exchange(self, key: int, results: Results, name: str, number: int, missing: Callable[[], None]) -> None:
        """Undo or redo one correction, and show its file.

        missing: called if the session does not offer that any more, or if the file shows the results of another run.
        """

        def start() -> None:
            self._selection.show(key)
            item = self._selection.item
            if item is None or item.key != key or _place(item.results) != _place(results):
                missing()
                self._go_on()
                return
            work = partial(exchange, results, name, number)
            self._start(work, key, name, lambda edit: missing() if edit is None else None)

        self._waiting.append(start)
        self._go_on()

    def _go_on(self) -> None:
        if self._waiting and not self.busy:
            self._waiting.popleft()()

    def _start(self, work: Callable[[], Edit | None], key: int, name: str, then: Callable[[Edit | None], object]) -> None:
        self.busy = True
        self._viewer.player.pause()

        def done(edit: Edit | None) -> None:
            self.busy, self._outdated = False, name not in _KEEPS
            then(edit)
            self.corrected.emit(key)
            self._read_edits()
            self._select(self._selection.object)  # instead of an earlier refusal
            self._viewer.player.reread()
            self._go_on()

        self._background.start(self, work, done, self._failed)

    def _describe(self, name: str, selected: int | None, class_id: int, joined: int | None, whole: bool) -> str:
        """What a correction of the selected object does, in words."""
        words, track = translate("corrections", _DONE[name]), self._track
        if selected is None:
            return words.format(label=self._canvas.label_of(class_id))
        label = self._canvas.label_of(int(self._canvas.visible_detections.class_ids[selected]))
        chosen = translate("corrections", "track {track} ({label})").format(track=track, label=label) if whole else label
        return words.format(object=chosen, label=self._canvas.label_of(class_id), track=track, joined=joined)

    def lost(self, words: str) -> None:
        """Say that a correction cannot be undone or redone, because the session was corrected again meanwhile."""
        self._actions.refuse(words)

    def _failed(self, message: Notice) -> None:
        self.busy = False
        self.drawing.forget()
        self.bar.say(of_engine(message, capital=True))
        self._go_on()


def _place(results: Results | None) -> tuple[Path, str, int] | None:
    """What identifies the results of a file; the same when its run goes on."""
    return None if results is None else (results.database, results.created, results.source)


class _CorrectionCommand(QUndoCommand):
    """The user corrected a session, which is done already. number: of the edit. undone: the user undid this edit of earlier times."""

    def __init__(self, corrector: Corrector, words: str, key: int, results: Results, number: int, undone: bool = False) -> None:
        super().__init__(words)
        self._corrector, self._key, self._results, self._number = corrector, key, results, number
        self.database, self.undone = results.database, undone
        self._forwards, self._backwards = ("undo", "redo") if undone else ("redo", "undo")
        self._is_new = True

    def undo(self) -> None:
        """Undo the edit."""
        self._exchange(self._backwards)

    def redo(self) -> None:
        """Make the edit again."""
        if not self._is_new:
            self._exchange(self._forwards)
        self._is_new = False

    def _exchange(self, name: str) -> None:
        self._corrector.exchange(self._key, self._results, name, self._number, self._missing)

    def _missing(self) -> None:
        self.setObsolete(True)
        self._corrector.lost(self.text())


@dataclass(frozen=True)
class Correction:
    """A correction of an object in one frame.

    name: of the command. frame, selected: of the object, among the shown ones. whole: all detections of its track. class_id: the right one.
    joining: the track to join with that of the object. box: the new box.
    """

    name: str
    results: Results
    shown: ViewFilter
    frame: int | None
    selected: int | None
    track: int | None
    whole: bool
    class_id: int
    joining: int | None
    box: Box | None = None

    def make(self) -> Edit:
        """Correct the session, and return the edit.

        Raises
        ------
        UsageError
            The frame is not stored yet, or the track cannot be split or joined.
        ExportError
            The session cannot be read or written.
        """
        self._check_stored()
        source, chosen = self.results.source, self._chosen()
        with Corrections(self.results.database, self.results.created) as corrections:
            match self.name:
                case "join" if self.joining is not None and self.track is not None:
                    corrections.join(source, [self.joining, self.track])
                case "split" if self.track is not None and self.frame is not None:
                    self._check_split(self.track, self.frame)
                    corrections.split(source, self.track, self.frame)
                case "add" if self.box is not None and self.frame is not None:
                    corrections.add(source, self.frame, self.class_id, self.box)
                case "move" if self.box is not None and isinstance(chosen, OneDetection):
                    corrections.move(chosen, self.box)
                case "relabel" if chosen is not None:
                    corrections.relabel(chosen, self.class_id)
                case "confirm" if chosen is not None:
                    corrections.confirm(chosen)
                case "delete" if chosen is not None:
                    corrections.delete(chosen)
            return corrections.edits()[-1]

    def _chosen(self) -> Chosen | None:
        """The object or its track; None for commands that concern no object."""
        if self.name not in ("confirm", "relabel", "delete", "move") or self.selected is None or self.frame is None:
            return None
        if self.whole and self.track is not None and self.name != "move":
            return OneTrack(self.results.source, self.track)
        results, shown = self.results, self.shown
        with SessionReader(results.database, shown.confidence, shown.classes, created=results.created) as reader:
            return OneDetection(results.source, self.frame, reader.places(results.source, self.frame)[self.selected])

    def _check_stored(self) -> None:
        """Raise UsageError if the session does not have the frame: a run also shows results that it has not stored yet."""
        source, frame = self.results.source, self.frame or 0
        with SessionReader(self.results.database, created=self.results.created) as reader:
            later = next(reader.blocks(source, 1, frame), None)  # the frame, or the next one that is stored
            live = any(each.number == source and each.kind is SourceKind.LIVE for each in reader.sources())
        if later is not None and later.numbers[0] == frame:
            return
        if later is not None and live:  # its earlier frames are in parts of the session
            words = translate("corrections", "This frame is in another part of the session: open that one to correct it")
        else:
            words = translate("corrections", "This frame is not stored yet: wait until detection has come here, or pause it")
        raise UsageError(literal(words))

    def _check_split(self, track: int, frame: int) -> None:
        """Raise UsageError if a track begins with this frame."""
        with SessionReader(self.results.database, created=self.results.created) as reader:
            begin = next(first for number, _, first, _, _ in reader.tracks(self.results.source) if number == track)
        if frame <= begin:
            words = translate("corrections", "Track {track} begins in this frame: split it in a later one")
            raise UsageError(literal(words.format(track=track)))


def exchange(results: Results, name: str, number: int | None = None) -> Edit | None:
    """Undo or redo the last edit of a session. number: only this one. Returns it; None if there is none, or if it is another one.

    Raises ExportError if the session cannot be read or written.
    """
    with Corrections(results.database, results.created) as corrections:
        forwards, backwards = (corrections.undo, corrections.redo) if name == "undo" else (corrections.redo, corrections.undo)
        edit = forwards()
        if edit is not None and number not in (None, edit.number):
            backwards()
            return None
        return edit


def attach(context: Context) -> Feature:
    """Let the user correct results."""
    corrector = Corrector(context)
    context.viewer.add_bar(corrector.bar)
    context.actions.correct.toggled.connect(corrector.set_shown)
    corrector.corrected.connect(context.run.corrected)
    return Feature()
