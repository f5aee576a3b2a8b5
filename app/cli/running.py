"""What ``detect``, ``demo`` and ``results`` have in common: a session run to its end, its outcome, and its results written."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from app.cli import options
from app.cli.interrupt import Interruption, interruptible
from app.cli.progress import PLAIN_SECONDS, Progress, draws
from engine.errors import ExportError
from engine.pool.events import DeviceReady
from engine.session import DetectionSession, SourceState
from engine.store.export import EXPORTERS, Exported, export_session
from engine.store.session import SessionReader
from engine.types import EngineInfo

DATABASE = "session.sqlite"


def add_format_option(parser: argparse._ActionsContainer) -> None:
    """Add --format."""
    formats = options.some_of([*EXPORTERS], ["yolo", "mot", "csv", "parquet"])
    parser.add_argument("--format", type=formats, default=["jsonl"], metavar="LIST", help=f"of {', '.join(EXPORTERS)} (jsonl)")


def run_session(session: DetectionSession, sources: Sequence[Path], quiet: bool) -> tuple[Interruption, list[EngineInfo]]:
    """Detect in these sources, with progress on standard error; gives what interrupted it and the engines that were built."""
    engines = {}
    with closing(Progress(session.sources, quiet)) as progress, interruptible(session.cancel) as interruption:
        for source in sources:
            session.add(source)
        session.finish()
        for event in session.events():
            progress.show(event)
            if isinstance(event, DeviceReady):
                engines[event.engine.device] = event.engine
    return interruption, list(engines.values())


def outcome_of(sources: Iterable[SourceState], interruption: Interruption, written: bool = True) -> tuple[str, int]:
    """How a run went, in a word and as an exit status. written: whether all its results could be."""
    states = list(sources)
    if interruption.number is not None:
        return "interrupted", interruption.exit_status
    if all(state.error is not None and not state.ledger.inferred for state in states):
        return "unusable", 2
    clean = written and all(state.error is None and state.ledger.balanced and not state.ledger.failed for state in states)
    return ("ok", 0) if clean else ("failed", 1)


def export(reader: SessionReader, folder: Path, formats: Sequence[str], quiet: bool) -> tuple[list[Exported], bool]:
    """Write the results; what takes time shows on standard error how far it is, and so does what cannot be written.

    Gives the files, and whether they are all that there should be: one that fails is no reason to go without the others.

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
    """Say on standard output what was written."""
    for item in exported:
        print(f"{item.path}" + ("" if item.complete else f" (only the first {item.frames} frames, until it was stopped)"))


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
