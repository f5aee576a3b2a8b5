"""Makes chapters of a video from the appearances in it."""

from itertools import pairwise

from engine.media.annotation.writer import Chapter
from engine.store.exporters.common.rounding import label_of
from engine.store.objects.appearances import read_appearances
from engine.store.session import SessionReader

MOST = 255
"""An MP4 holds no more chapters."""

_LEAST_SECONDS = 1.0
_MOST_NAMES = 3


def chapters_of(reader: SessionReader, source: int, end: float) -> list[Chapter]:
    """Return a chapter for each moment at which tracks, or classes without tracks, appear. Those that appear together share one.

    end: of the video, seconds. Times are those of the source.

    Raises ExportError if the session cannot be read.
    """
    least = max(_LEAST_SECONDS, end / MOST)
    begins: list[tuple[float, list[str]]] = []
    for row in read_appearances(reader, source):
        name = label_of(reader.labels, int(row["class_id"])) + (f" {row['track']}" if row["track"] >= 0 else "")
        if not begins or row["start"] >= begins[-1][0] + least:
            begins.append((float(row["start"]), []))
        begins[-1][1].append(name)
    if begins and begins[0][0] > 0:
        begins.insert(0, (0.0, ["Beginning"]))  # the chapters of an MP4 begin at 0
    ends = [(begin, following) for (begin, _), (following, _) in pairwise([*begins, (end, [])])]
    return [Chapter(_title(names), begin, until) for (begin, until), (_, names) in zip(ends, begins, strict=True) if until > begin]


def _title(names: list[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
