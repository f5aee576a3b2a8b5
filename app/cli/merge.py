"""``framefleet merge SESSION…``: joins the sessions of several runs into one."""

import sys
from collections.abc import Sequence
from pathlib import Path

from framefleet.app.cli.options import make_parser
from framefleet.app.cli.sessions import DATABASE, number_of, session_databases
from framefleet.app.terminal import print_line
from framefleet.engine.store.merge import merge_sessions


def run(argv: Sequence[str]) -> int:
    """Write the new session. Returns 0.

    Raises FramefleetError if a session cannot be read, they do not fit together, or the new one cannot be written.
    """
    parser = make_parser(
        "merge",
        "Join the sessions of several runs with the same model and settings into one, for example of several machines.\n"
        "If several hold results of the same file, the most complete ones are taken. Files that differ under one path are all kept.\n"
        "The parts of a stream are joined again.",
        arguments="SESSION…",
        examples=("monday tuesday --out week",),
    )
    parser.add_argument("sessions", nargs="+", type=Path, metavar="SESSION", help=f"a session database, or the folder of {DATABASE}")
    parser.add_argument("--out", type=Path, default=Path("merged"), metavar="DIR", help=f"{DATABASE} goes there (merged)")
    arguments = parser.parse_args(argv)
    paths = [path for session in arguments.sessions for path in session_databases(session)]
    merged = merge_sessions(paths, arguments.out / DATABASE)
    for source, session, is_corrected in merged.left_out:
        others = "others are left out, with the corrections in them" if is_corrected else "others are left out"
        print_line(f"framefleet: {source}: {session} holds the most complete results, and {others}", sys.stderr)
    for note in merged.notes:
        print_line(f"framefleet: {note}", sys.stderr)
    lacking = f", {merged.incomplete:,} of them incomplete" if merged.incomplete else ""
    print_line(f"{arguments.out / DATABASE}: {number_of(merged.sources, 'source')}{lacking}")
    return 0
