"""Shared by ``detect``, ``demo`` and ``results``: write the results of a run to files."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from app.cli import options
from app.cli.progress import PLAIN_SECONDS, draws
from engine.errors import ExportError
from engine.store.export import Exported, export_session
from engine.store.exporters import EXPORTERS
from engine.store.session import SessionReader

DATABASE = "session.sqlite"


def add_format_option(parser: argparse._ActionsContainer) -> None:
    """Add ``--format``."""
    formats = options.some_of([*EXPORTERS], ["yolo", "mot", "csv", "parquet"])
    parser.add_argument("--format", type=formats, default=["jsonl"], metavar="LIST", help=f"formats: {', '.join(EXPORTERS)} (jsonl)")


def export(reader: SessionReader, folder: Path, formats: Sequence[str], quiet: bool) -> tuple[list[Exported], bool]:
    """Write the results, with progress and failures on standard error. A file that fails does not stop the others.

    Returns the written files, and whether all could be written.

    Raises:
        ExportError: the folder cannot be made.
    """
    for source in reader.sources():
        for name in formats:
            if source.kind is not None and source.kind not in EXPORTERS[name].kinds:
                print(f"{source.path}: pictures have no {name}; their detections are in {reader.path}", file=sys.stderr)
    problems: list[ExportError] = []
    with closing(_Writing(quiet)) as writing:
        exported = export_session(reader, folder, formats, writing.show, problems.append)
    for problem in problems:
        print(f"framefleet: {problem}", file=sys.stderr)
    return exported, not problems


def print_exported(exported: Iterable[Exported]) -> None:
    """Print the written files on standard output."""
    for item in exported:
        print(f"{item.path}" + ("" if item.complete else f" (only {item.frames} frames, until it was stopped)"))


class _Writing:
    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._draws = draws()
        self._next = 0.0
        self._width = 0

    def show(self, path: Path, frames: int, total: int) -> None:
        now = time.monotonic()
        if self._quiet or now < self._next:
            return
        self._next = now + (0.2 if self._draws else PLAIN_SECONDS)
        text = f"writing {path.name}: {100 * frames // max(total, 1)} %"
        self._width = max(self._width, len(text))
        print(text.ljust(self._width), end="\r" if self._draws else "\n", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._draws and self._width:
            print(" " * self._width, end="\r", file=sys.stderr, flush=True)
