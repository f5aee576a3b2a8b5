"""``framefleet correct SESSION WHAT``: corrects stored detections and tracks. The model's results stay beside the corrections."""

import argparse
import math
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from framefleet.app.cli import options, sessions
from framefleet.app.terminal import print_line
from framefleet.engine.model.files import class_ids
from framefleet.engine.notices import UsageError, literal
from framefleet.engine.settings.kinds import Moments, whole
from framefleet.engine.store.corrections import Box, Chosen, Corrections, OneDetection, OneTrack, edits
from framefleet.engine.store.files import lock_session
from framefleet.engine.store.session import SessionReader

_ACTIONS = {
    "confirm": "mark as verified",
    "relabel": "give the class --label, and mark as verified",
    "delete": "leave out of all results",
    "add": "add an object of the class --label with --box to --frame, verified",
    "move": "give the detection the box --box, and mark as verified",
    "join": "make one track of the tracks in --track",
    "split": "make a new track of --track from --at on",
    "undo": "undo the last correction",
    "redo": "make the correction again that was undone last",
    "list": "show the corrections",
}
_NEEDED = {
    "relabel": ("label",),
    "add": ("frame", "label", "box"),
    "move": ("frame", "object", "box"),
    "join": ("track",),
    "split": ("track", "at"),
}


def run(argv: Sequence[str]) -> int:
    """Correct, and say what was done. Returns 0. Raises FramefleetError if the session cannot be read or written, or has no such object."""
    arguments = _parser().parse_args(argv)
    database = sessions.session_database(arguments.session)
    if arguments.source is not None and arguments.frame is None and (arguments.object is not None or arguments.action == "add"):
        _find_picture(database, arguments)
    _check(arguments)
    if arguments.action == "list":
        for edit in edits(database):
            print_line(f"{datetime.fromisoformat(edit.made).astimezone():%Y-%m-%d %H:%M:%S}  {edit.words}")
        return 0
    with lock_session(database):
        with SessionReader(database) as reader:
            sources, labels = reader.sources(), reader.labels
        with Corrections(database) as corrections:
            if arguments.action in ("undo", "redo"):
                edit = getattr(corrections, arguments.action)()
                print_line(f"nothing to {arguments.action}" if edit is None else f"{arguments.action}ne: {edit.words}")
                return 0
            source = options.named_source(sources, arguments.source).number
            before = len(corrections.edits())
            if arguments.action == "join":
                corrections.join(source, arguments.track)
            elif arguments.action == "split":
                corrections.split(source, arguments.track[0], corrections.frame_from(source, arguments.at))
            elif arguments.action == "add":
                for class_id in class_ids([arguments.label], labels) or ():
                    corrections.add(source, arguments.frame, class_id, arguments.box)
            elif arguments.action == "move":
                corrections.move(OneDetection(source, arguments.frame, arguments.object), arguments.box)
            else:
                every = _chosen(arguments, source)
                for chosen in every:
                    corrections.check(chosen)  # else those before a wrong one would be corrected
                for chosen in every:
                    if arguments.action == "relabel":
                        corrections.relabel(chosen, *(class_ids([arguments.label], labels) or ()))
                    else:
                        getattr(corrections, arguments.action)(chosen)
            for edit in corrections.edits()[before:]:
                print_line(edit.words)
    return 0


def _parser() -> argparse.ArgumentParser:
    actions = "\n".join(f"  {name:8} {words}" for name, words in _ACTIONS.items())
    parser = options.make_parser(
        "correct",
        f"Correct stored detections and tracks. Results leave deleted ones out and mark verified ones.\n\n{actions}",
        arguments="SESSION WHAT",
        examples=(
            "detections relabel --track 4 --label truck",
            "detections delete --frame 120 --object 2",
            "detections delete --source cam1/IMG_0012.JPG --object 0",
            "detections split --track 4 --at 12.5s",
            "detections add --frame 120 --label person --box 410,220,36,90",
            "detections move --frame 120 --object 2 --box 400,200,50,80",
            "detections undo",
        ),
    )
    sessions.add_session_argument(parser)
    parser.add_argument("action", choices=_ACTIONS, metavar="WHAT", help=", ".join(_ACTIONS))
    parser.add_argument("--source", metavar="NAME", help="the source, if the session has several, or a picture of a folder: cam1/IMG_1.JPG")
    parser.add_argument("--track", type=options.numbers, metavar="N[,N]", help="the track, for join the tracks")
    parser.add_argument("--frame", type=options.checked(whole), metavar="N", help="a frame, from 0")
    words = "the place of a detection among all that the model found in --frame, from 0; added ones come behind them"
    parser.add_argument("--object", type=options.checked(whole), metavar="N", help=words)
    words = "add, move: left edge, top edge, width and height of the box, source pixels"
    parser.add_argument("--box", type=options.checked(_box), metavar="X,Y,W,H", help=words)
    parser.add_argument("--label", metavar="NAME", help="a label or class id")
    parser.add_argument(
        "--at", type=options.checked(Moments().read), metavar="T", help="split: the new track's first time (12.5s) or frame (310)"
    )
    return parser


def _box(text: str) -> Box:
    """The corners of a box. Raises UsageError for anything but four finite numbers, the last two above 0."""
    try:
        x, y, width, height = map(float, text.split(","))
        if not all(map(math.isfinite, (x, y, width, height))) or width <= 0 or height <= 0:
            raise ValueError(text)
    except ValueError:
        raise UsageError(literal(f"'{text}' is not a box: write left edge, top edge, width, height, such as 410,220,36,90")) from None
    return x, y, x + width, y + height


def _find_picture(database: Path, arguments: argparse.Namespace) -> None:
    """If ``--source`` names a picture of a folder, as the tables do, replace it by the folder's name, and set ``--frame``."""
    folder, _, picture = arguments.source.rpartition("/")
    with SessionReader(database) as reader:
        for source in reader.sources():
            if arguments.source in (source.name, source.path):
                return  # a video needs --frame
            if folder in (source.name, source.path, str(source.file)):
                frame = reader.frame_of_picture(source.number, picture)
                if frame is not None:
                    arguments.source, arguments.frame = source.path, frame
                    return
    raise UsageError(literal(f"the session has no picture '{arguments.source}'"))


def _check(arguments: argparse.Namespace) -> None:
    action = arguments.action
    for name in _NEEDED.get(action, ()):
        if getattr(arguments, name) is None:
            raise UsageError(literal(f"{action} needs --{name}"))
    if action == "split" and len(arguments.track) > 1:
        raise UsageError(literal("split divides one track at a time: give one number to --track"))
    if action in ("confirm", "relabel", "delete") and (arguments.track is None) == (arguments.frame is None):
        raise UsageError(literal(f"{action} needs either --track, or --frame and --object"))
    if action != "add" and (arguments.frame is None) != (arguments.object is None):
        raise UsageError(literal("--frame and --object belong together: a frame, and a detection in it"))


def _chosen(arguments: argparse.Namespace, source: int) -> list[Chosen]:
    if arguments.track is None:
        return [OneDetection(source, arguments.frame, arguments.object)]
    return [OneTrack(source, track) for track in arguments.track]
