"""``framefleet track SESSION``: follows the objects of an earlier run from frame to frame."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from app.cli import options
from app.cli.running import DATABASE
from engine.errors import UsageError
from engine.store.lock import lock_session
from engine.store.tracks import track_session
from engine.tracking.follow import TrackerName


def run(argv: Sequence[str]) -> int:
    """Store a track for each object, instead of the tracks of an earlier call. Returns 0.

    Raises:
        FramefleetError: the session cannot be read or written.
    """
    parser = options.make_parser(
        "track",
        "Follow the objects of an earlier run from frame to frame, without detecting again. The tracks are stored in the session,\n"
        "and 'framefleet results' writes them. A run with 'detect --track' stores weaker detections, too, which help the trackers.",
    )
    parser.add_argument("session", type=Path, metavar="SESSION", help=f"a session database, or the folder that holds {DATABASE}")
    parser.add_argument("--tracker", choices=[*TrackerName], type=TrackerName, default=TrackerName.BYTETRACK, help="(bytetrack)")
    arguments = parser.parse_args(argv)
    database: Path = arguments.session / DATABASE if arguments.session.is_dir() else arguments.session
    if not database.exists():
        raise UsageError(f"there is no {database}: give the folder that an earlier run wrote to, or its session database")
    with lock_session(database):
        tracks = track_session(database, arguments.tracker)
    for path, count in tracks.items():
        print(f"{path}: {count} track" + "s" * (count != 1))
    return 0
