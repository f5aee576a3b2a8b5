"""``framefleet results SESSION``: writes the stored results of an earlier run in any format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from app.cli import options
from app.cli.classes import class_ids
from app.cli.running import DATABASE, add_format_options, export, export_options, print_exported
from engine.errors import UsageError
from engine.store.exporters.options import Every
from engine.store.session import SessionReader


def run(argv: Sequence[str]) -> int:
    """Write the files. Exit status 0: all files are written; 1: a file could not be written.

    Raises:
        FramefleetError: the session cannot be read, a class is unknown, or the folder cannot be made.
    """
    parser = options.make_parser("results", "Write the stored results of an earlier run in other formats.")
    parser.add_argument("session", type=Path, metavar="SESSION", help=f"a session database, or the folder that holds {DATABASE}")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for the files (beside the database)")
    add_format_options(parser)
    parser.add_argument("--every", type=options.checked(Every.read), metavar="N|TIME", help="yolo: every Nth frame, or a frame every 1s")
    parser.add_argument("--confidence", type=options.fraction, default=0.0, metavar="0..1", help="least confidence written (all stored)")
    parser.add_argument("--classes", type=options.some_names, metavar="LIST", help="labels or class ids to write: person,car … (all)")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    arguments = parser.parse_args(argv)
    database: Path = arguments.session / DATABASE if arguments.session.is_dir() else arguments.session
    if not database.exists():
        raise UsageError(f"there is no {database}: give the folder that an earlier run wrote to, or its session database")
    with SessionReader(database, arguments.confidence) as reader:
        reader.classes = class_ids(arguments.classes, reader.labels)
        folder, chosen = arguments.out or database.parent, export_options(arguments)
        exported, written = export(reader, folder, arguments.format, arguments.quiet, chosen, overwrite=arguments.overwrite)
    print_exported(exported)
    return 0 if written else 1
