"""The child process that writes clips and pictures."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from framefleet.engine.media.cutting import copy_clip, encode_clip, is_seekable, write_still
from framefleet.engine.notices import Notice
from framefleet.engine.processes import AnyConnection, child_main, watchdog
from framefleet.engine.store import clips, schema
from framefleet.engine.store.exporters.base import serve


def write_cuts(job: clips.CutsJob, tell: Callable[[Notice], None], report: Callable[[int], None], clock: watchdog.Clock) -> int:
    """Write the files. Returns their number.

    tell: called with what is missing in them. report: called often, with the number of complete files. clock: the watchdog's.
    """
    video = Path(job.video)
    seekable = is_seekable(video, partial(report, 0))
    for number, cut in enumerate(job.cuts, 1):
        target = Path(cut.target)
        with schema.explained(Path(cut.shown or cut.target), "write"):
            if cut.end is None:
                write_still(video, cut.start, target, seekable=seekable, exact=not cut.near)
            else:
                write = encode_clip if job.exact else copy_clip
                if codec := write(video, cut.start, cut.end, target, partial(report, number - 1), seekable=seekable):
                    tell(Notice("store.sound_left_out", path=video, codec=codec))
        report(number)
    clock.stop()
    return len(job.cuts)


def main(connection: AnyConnection, job: clips.CutsJob) -> None:
    """Run one job: the main function of the process."""
    for cut in job.cuts:
        child_main.when_parent_ends(partial(Path(cut.target).unlink, missing_ok=True))
    serve(
        connection,
        Notice("general.opening", path=Path(job.video)),
        Notice("store.writing_clip", path=Path(job.video)),
        partial(write_cuts, job, connection.send),
    )
