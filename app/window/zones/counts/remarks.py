"""What the panel of lines and zones says about counts that are missing."""

from typing import NamedTuple

from framefleet.app.window.widgets.engine_text import of_engine
from framefleet.app.window.widgets.translation import translate
from framefleet.app.window.zones.counts.tracks import Tracks
from framefleet.engine.notices import Notice


class Remark(NamedTuple):
    """note: why there are no counts. remark: what happens now. can_track: whether the user can let the objects be tracked."""

    note: str = ""
    remark: str = ""
    can_track: bool = False


def remark_on(tracks: Tracks | None, problem: str, pictures: bool, ended: bool) -> Remark:
    """What to say about the counts of a file.

    tracks: of the file, None until they are read. problem: why nothing could be counted, or "". ended: whether no tracks will follow.
    """
    if tracks is not None and tracks.pending:
        return Remark(problem, translate("zones", "Tracking the objects…"))
    if tracks is not None and not tracks.tracked and (pictures or ended):
        if pictures:
            words = translate("zones", "Zones count the objects of each picture; lines count tracked objects of videos only.")
        else:
            words = translate("zones", "Lines and zones count tracked objects, and these results have no tracks.")
        return Remark(problem or words, can_track=not pictures)
    if not problem and tracks is not None and tracks.untracked is not None:
        return Remark(_words(tracks.untracked))
    return Remark(problem)


def _words(why: Notice) -> str:
    """Why there are no tracks, in the window's language."""
    if why.code == "store.nothing_detected":
        return translate("zones", "Nothing was detected, so there is nothing to count.")
    return translate("zones", "No object could be tracked: {reason}").format(reason=of_engine(why))
