"""``framefleet track SESSION``: follows the objects of an earlier run from frame to frame."""

from collections.abc import Sequence

from framefleet.app.cli.exports import add_session_argument, session_database
from framefleet.app.cli.options import make_parser
from framefleet.app.streams import print_line
from framefleet.engine.errors import UsageError, literal
from framefleet.engine.store.files import lock_session
from framefleet.engine.store.tracks import track_session


def run(argv: Sequence[str]) -> int:
    """Store a track for each object, instead of the tracks of an earlier call. Returns 0.

    Raises FramefleetError if the session cannot be read or written, or has no videos.
    """
    parser = make_parser(
        "track",
        "Follow the objects of an earlier run from frame to frame, without detecting again. The tracks are stored in the session,\n"
        "and 'framefleet results' writes them. A run with 'detect --track' stores weaker detections, too, which help the trackers.",
        arguments="SESSION",
        examples=("detections", "detections --drop-corrections"),
    )
    add_session_argument(parser)
    parser.add_argument("--tracker", choices=["bytetrack"], default="bytetrack", help="the algorithm (bytetrack)")
    parser.add_argument("--drop-corrections", action="store_true", help="forget which tracks were joined and split by hand")
    arguments = parser.parse_args(argv)
    database = session_database(arguments.session)
    with lock_session(database):
        tracks = track_session(database, arguments.drop_corrections)
    if not tracks:
        raise UsageError(literal(f"{database} has no frames of videos: objects are followed in videos only"))
    for path, count, why in tracks:
        print_line(f"{path}: {count} track" + "s" * (count != 1) + (f": {why}" if why else ""))
    return 0
