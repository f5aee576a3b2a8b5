"""Shared by ``detect``, ``demo`` and ``results``: do a run, write its results, and report how it ended."""

from __future__ import annotations

import argparse
import json
import logging
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from app.cli import options
from app.cli.interrupt import Interrupted, Interruption, interruptible
from app.cli.progress import PLAIN_SECONDS, Progress, draws
from engine.errors import ExportError, FramefleetError
from engine.pool.events import DeviceReady
from engine.session import DetectionSession
from engine.settings import RunSettings
from engine.store.export import Exported, export_session
from engine.store.exporters import EXPORTERS
from engine.store.session import SessionReader
from engine.types import EngineInfo

DATABASE = "session.sqlite"

QUICK_FRAMES = 20_000
"""After an interruption, results of more frames are not written to files, since the command has to end within 3 s."""

_log = logging.getLogger(__name__)


class Run:
    """One run. session: None until it begins. error: what ended it early. written: whether all results could be written.

    figures: further keys of the report.
    """

    def __init__(self, interruption: Interruption, quiet: bool) -> None:
        self.interruption = interruption
        self.quiet = quiet
        self.session: DetectionSession | None = None
        self.engines: list[EngineInfo] = []
        self.error: str | None = None
        self.written = True
        self.figures: dict[str, Any] = {}

    def detect(self, settings: RunSettings, database: Path, labels: Sequence[str], sources: Sequence[Path]) -> DetectionSession:
        """Detect in these sources, with progress on standard error. Returns the session, which is closed.

        Raises:
            FramefleetError: the run cannot begin, or its results cannot be stored.
        """
        engines = {}
        _log.info("%d sources, results in %s", len(sources), database)
        with DetectionSession(settings, database, labels) as session, self.interruption.cancelling(session.cancel):
            self.session = session
            with closing(Progress(session.sources, self.quiet)) as progress:
                for source in sources:
                    session.add(source)
                session.finish()
                for event in session.events():
                    _log.debug("%s", type(event).__name__)
                    progress.show(event)
                    if isinstance(event, DeviceReady):
                        engines[event.engine.device] = event.engine
                        self.engines = list(engines.values())
        return session

    def export(self, reader: SessionReader, folder: Path, formats: Sequence[str]) -> list[Exported]:
        """Write the results as ``export`` does. After an interruption, write only what takes no time, and say how to write the rest."""
        if self.interruption.number is not None:
            frames = sum(reader.count(source.number) for source in reader.sources())
            later = [name for name in formats if EXPORTERS[name].slow or frames > QUICK_FRAMES]
            if later and frames:
                command = f"framefleet results {reader.path.parent} --format {','.join(later)}"
                print(
                    f"framefleet: {', '.join(later)} not written, because the run was interrupted; '{command}' does that", file=sys.stderr
                )
            formats = [name for name in formats if name not in later]
        exported, self.written = export(reader, folder, formats, self.quiet)
        return exported

    @property
    def outcome(self) -> tuple[str, int]:
        """How the run ended, as a word and as an exit status."""
        if self.interruption.number is not None:
            return "interrupted", self.interruption.exit_status
        states = list(self.session.sources.values()) if self.session is not None else []
        if self.error is None and all(state.error is not None and not state.ledger.inferred for state in states):
            return "unusable", 2
        if self.session is None:
            return "unusable", 2
        clean = all(state.error is None and state.ledger.balanced and not state.ledger.failed for state in states)
        return ("ok", 0) if clean and self.written and self.error is None else ("failed", 1)

    def report(self) -> dict[str, Any]:
        """The run in numbers, for ``--json``. The key ``error`` exists only after an error that ended the run."""
        word, _ = self.outcome
        figures = self.session.report(word) if self.session is not None else {"sources": [], "devices": [], "exit": word}
        return figures | self.figures | ({} if self.error is None else {"error": self.error})


def reported(work: Callable[[Run], None], as_json: bool, quiet: bool) -> int:
    """Do the work of a run, and return its exit status. as_json: end standard output with the report, whatever has ended the run.

    Raises:
        FramefleetError: the run cannot begin.
    """
    with interruptible() as interruption:
        run = Run(interruption, quiet)
        try:
            work(run)
        except Interrupted:
            print("framefleet: interrupted", file=sys.stderr)
        except Exception as error:
            run.error = str(error)
            if run.session is None or not isinstance(error, FramefleetError):
                raise
            _log.debug("the run ends", exc_info=True)
            print(f"framefleet: {error}", file=sys.stderr)
        finally:
            interruption.ignore()
            if as_json:
                print(json.dumps(run.report()), flush=True)
        return run.outcome[1]


def add_run_options(group: argparse._ActionsContainer, json_help: str) -> None:
    """Add ``--json`` and ``--quiet``."""
    group.add_argument("--json", action="store_true", help=json_help)
    group.add_argument("--quiet", action="store_true", help="show no progress")


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
