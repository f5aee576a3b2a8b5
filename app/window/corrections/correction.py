"""A correction that the user asked for, as it is made in the session."""

from dataclasses import dataclass

from framefleet.app.window.queue.item import Results
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.errors import UsageError
from framefleet.engine.store.objects.corrections import Chosen, Corrections, Edit, OneDetection, OneTrack
from framefleet.engine.store.session import SessionReader


@dataclass(frozen=True)
class Correction:
    """A correction of an object in one frame.

    name: of the command. frame, selected: of the object, among the shown ones. whole: all detections of its track. class_id: the right one.
    joining: the track to join with that of the object.
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

    def make(self) -> Edit | None:
        """Correct the session, and return the edit, None if there is nothing to undo or redo.

        Raises:
            UsageError: the track cannot be split or joined.
            ExportError: the session cannot be read or written.
        """
        source, chosen = self.results.source, self._chosen()
        with Corrections(self.results.database, self.results.created) as corrections:
            match self.name:
                case "undo":
                    return corrections.undo()
                case "redo":
                    return corrections.redo()
                case "join" if self.joining is not None and self.track is not None:
                    corrections.join(source, [self.joining, self.track])
                case "split" if self.track is not None and self.frame is not None:
                    self._check_split(self.track, self.frame)
                    corrections.split(source, self.track, self.frame)
                case "relabel" if chosen is not None:
                    corrections.relabel(chosen, self.class_id)
                case "confirm" if chosen is not None:
                    corrections.confirm(chosen)
                case "delete" if chosen is not None:
                    corrections.delete(chosen)
            return corrections.edits()[-1]

    def _chosen(self) -> Chosen | None:
        """The object or its track; None for commands that concern no object."""
        if self.name not in ("confirm", "relabel", "delete") or self.selected is None or self.frame is None:
            return None
        if self.whole and self.track is not None:
            return OneTrack(self.results.source, self.track)
        results, shown = self.results, self.shown
        with SessionReader(results.database, shown.confidence, shown.classes, created=results.created) as reader:
            return OneDetection(results.source, self.frame, reader.ordinals(results.source, self.frame)[self.selected])

    def _check_split(self, track: int, frame: int) -> None:
        """Raise UsageError if a track begins with this frame."""
        with SessionReader(self.results.database, created=self.results.created) as reader:
            begin = next(first for number, _, first, _, _ in reader.tracks(self.results.source) if number == track)
        if frame <= begin:
            words = translate("corrections", "Track {track} begins in this frame: split it in a later one")
            raise UsageError(words.format(track=track))
