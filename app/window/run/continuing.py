"""Asks before detection continues in files whose corrections this removes."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QWidget

from framefleet.app.window.queue.item import QueueItem, Results
from framefleet.app.window.run.background import Background
from framefleet.app.window.widgets import questions
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.notices import ExportError
from framefleet.engine.run.resume import removed_corrections

Begun = tuple[Path, Results]
"""A file, and where its first frames are."""


def begun_files(items: Iterable[QueueItem | None]) -> list[Begun]:
    """Return the files that have stored frames. Streams are left out: they start again from the present."""
    files = (item for item in items if item is not None and not item.live)
    return [(item.path, results) for item in files if (results := item.stored) is not None]


def ask_to_continue(window: QWidget, background: Background, files: Sequence[Begun], go_on: Callable[[], object]) -> None:
    """Continue detection; ask first if this removes corrections. go_on: continues it in these files."""

    def ask(count: int) -> None:
        if not count:
            go_on()
            return
        title, question = translate("run", "Continue the detection"), translate("run", "Continue, and remove %Ln corrections?", None, count)
        details = translate(
            "run", "Their frames are detected again, or their objects are tracked again. A copy of the session keeps the corrections."
        )
        answers = translate("run", "Continue"), translate("run", "Cancel")
        questions.ask(window, title, (question, details), answers, lambda yes: go_on() if yes else None)

    if files:
        background.start(window, partial(_removed, files), ask, lambda _: ask(0))
    else:
        go_on()


def _removed(files: Sequence[Begun]) -> int:
    """The number of corrected detections that are removed."""
    count = 0
    for path, results in files:
        with suppress(ExportError):  # the run says what is wrong with the session
            count += removed_corrections(results.database, path, results.source)
    return count
