"""In a worker: a thread that opens sources."""

import queue
import traceback
from collections.abc import Callable

from framefleet.engine.errors import FramefleetError, unexpected
from framefleet.engine.media.sampling import Sampling
from framefleet.engine.notices import Notice
from framefleet.engine.pool.protocol import Began, FromWorker, Probe, Probed, ProbeFailed
from framefleet.engine.processes.watchdog import Watchdog

PROBE_PATIENCE = 20
"""Opening a source may take this many times as long as one frame: a file without an index is read from start to end."""


def probe_sources(
    tasks: queue.SimpleQueue[Probe | None], sampling: Sampling | None, send: Callable[[FromWorker], None], watchdog: Watchdog
) -> None:
    """Open the sources of ``tasks`` and send the answers, until a task is None. sampling: see ``Setup``."""
    from framefleet.engine.media.probe import probe

    clock = watchdog.add()
    while (task := tasks.get()) is not None:
        send(Began(task.source, None))
        clock.start(Notice("pool.opening", path=task.path), PROBE_PATIENCE * watchdog.seconds)
        try:
            answer: Probed | ProbeFailed = Probed(task.source, probe(task.path, sampling))
        except FramefleetError as error:
            answer = ProbeFailed(task.source, error.notice)
        except Exception as error:
            traceback.print_exc()
            answer = ProbeFailed(task.source, Notice("pool.not_opened", path=task.path, problem=unexpected(error)))
        clock.stop()
        send(answer)
