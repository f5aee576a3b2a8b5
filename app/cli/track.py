"""``framefleet track SESSION``: follows the objects of an earlier run from frame to frame."""

from collections.abc import Sequence
from pathlib import Path

from framefleet.app.cli import options, sessions
from framefleet.app.terminal import print_line
from framefleet.engine.notices import Notice, UsageError, literal
from framefleet.engine.store import files
from framefleet.engine.store.tracks import track_growing, track_session


def run(argv: Sequence[str]) -> int:
    """Store a track for each object, instead of the tracks of an earlier call. Returns 0.

    Raises FramefleetError if the session cannot be read or written, or has no videos.
    """
    parser = options.make_parser(
        "track",
        "Follow the objects of an earlier run from frame to frame, without detecting again. The tracks are stored in the session,\n"
        "and 'framefleet results' writes them. A run with 'detect --track' stores weaker detections, too, which help the trackers.",
        arguments="SESSION",
        examples=("detections", "detections --drop-corrections"),
    )
    sessions.add_session_argument(parser)
    parser.add_argument("--tracker", choices=["bytetrack"], default="bytetrack", help="the algorithm (bytetrack)")
    parser.add_argument(
        "--drop-corrections",
        action="store_true",
        help="forget which tracks were joined and split by hand; other corrections stay, and can no longer be undone",
    )
    arguments = parser.parse_args(argv)
    databases = sessions.session_databases(arguments.session)
    tracks = [found for database in databases for found in _track(database, arguments.drop_corrections)]
    if not tracks:
        raise UsageError(literal(f"{databases[-1]} has no frames of videos: objects are followed in videos only"))
    for path, count, why in tracks:
        print_line(f"{path}: {count} track" + "s" * (count != 1) + (f": {why}" if why else ""))
    return 0


def _track(database: Path, drop_corrections: bool) -> list[tuple[str, int, Notice | None]]:
    """Track the objects of a session."""
    if files.is_locked(database):
        return track_growing(database, drop_corrections)
    with files.lock_session(database):
        return track_session(database, drop_corrections)
