"""Shared by ``detect`` and ``demo``: do a run, and report how it ended."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from framefleet.app.cli.run.exports import export
from framefleet.app.cli.run.interrupt import Interrupted, Interruption, interruptible
from framefleet.app.cli.run.progress import Progress
from framefleet.app.cli.run.zones import LiveZones
from framefleet.engine.errors import FramefleetError
from framefleet.engine.pool.events import DeviceReady, FramesDone
from framefleet.engine.processes.file_lock import FileLock
from framefleet.engine.session import DetectionSession
from framefleet.engine.settings import RunSettings
from framefleet.engine.store.export.run import Exported
from framefleet.engine.store.exporters import EXPORTERS
from framefleet.engine.store.exporters.common.options import DEFAULTS, ExportOptions
from framefleet.engine.store.session import SessionReader
from framefleet.engine.types import AS_ASKED, EngineInfo
from framefleet.engine.zones.shapes import ZoneSet

if TYPE_CHECKING:
    from framefleet.engine.cluster.connection import ClusterConnection

QUICK_FRAMES = 20_000
"""After an interruption, results of more frames are not written to files, since the command has to end within 3 s."""

MOST_NOTES = 10
"""Most sentences about an earlier run that are printed."""

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

    def detect(
        self,
        settings: RunSettings,
        database: Path,
        labels: Sequence[str],
        sources: Mapping[int, Path],
        restart: bool = False,
        lock: FileLock | None = None,
        facts: Mapping[str, str] = MappingProxyType({}),
        cluster: ClusterConnection | None = None,
        zones: ZoneSet | None = None,
        choice: str = AS_ASKED,
    ) -> DetectionSession:
        """Detect in these sources, with progress on standard error. Returns the session, which is closed.

        sources: by their numbers. restart, lock, facts: as for ``DetectionSession``. cluster: that has the devices, None = this machine.
        zones: whose counts belong to the progress. choice: the reason of a precision that the settings name.

        Raises FramefleetError if the run cannot begin, or its results cannot be stored.
        """
        engines = {}
        _log.info("%d sources, results in %s", len(sources), database)
        begun = DetectionSession(settings, database, labels, restart=restart, lock=lock, facts=facts, hosts=cluster)
        with begun as session, self.interruption.cancelling(session.cancel):
            self.session = session
            with closing(Progress(session.sources, self.quiet)) as progress:
                for number, source in sources.items():
                    session.add(source, number)
                session.finish()
                notes = session.notes
                for note in notes[:MOST_NOTES]:
                    progress.say(note)
                if len(notes) > MOST_NOTES:
                    progress.say(f"… and {len(notes) - MOST_NOTES} more sources like these")
                counting = None if zones is None or self.quiet else LiveZones(database, zones)
                for event in session.events():
                    _log.debug("%s", type(event).__name__)
                    if isinstance(event, DeviceReady) and event.engine.reason == AS_ASKED:
                        event = DeviceReady(replace(event.engine, reason=choice))
                    if counting is not None and isinstance(event, FramesDone) and (counted := counting.text(event.source)):
                        progress.show_counts(counted)
                    progress.show(event)
                    if isinstance(event, DeviceReady):
                        engines[event.engine.device] = event.engine
                        self.engines = list(engines.values())
                for note in session.notes:
                    if note not in notes:  # where results were kept that the run has replaced
                        progress.say(note)
        return session

    def export(
        self,
        reader: SessionReader,
        folder: Path,
        formats: Sequence[str],
        options: ExportOptions = DEFAULTS,
        overwrite: bool = False,
    ) -> list[Exported]:
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
        mine = None if self.session is None else self.session.sources
        exported, self.written = export(reader, folder, formats, self.quiet, options, mine, overwrite)
        return exported

    @property
    def outcome(self) -> tuple[str, int]:
        """How the run ended, as a word and as an exit status."""
        if self.interruption.number is not None:
            return "interrupted", self.interruption.exit_status
        states = list(self.session.sources.values()) if self.session is not None else []
        # a shard may have no source
        if self.error is None and states and all(state.error is not None and not state.ledger.inferred for state in states):
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
    """Do the work of a run, and return its exit status. as_json: end standard output with the report, also after an error.

    Raises FramefleetError if the run cannot begin.
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
    group.add_argument("--quiet", action="store_true", help="print errors, what an earlier run did, and the last line only")
