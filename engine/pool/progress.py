"""The progress of one source of a run, computed from the pool's events."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self, TypeAlias

from framefleet.engine.media.decoder import DecoderUse
from framefleet.engine.media.types import SourceInfo
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import FramesDone, Ledger, SourceFinished, SourceOpened
from framefleet.engine.pool.position import Position

SourceEvent: TypeAlias = SourceOpened | FramesDone | SourceFinished


@dataclass(frozen=True)
class SourceProgress:
    """One source of a run.

    info: None until the source is opened. frames: number handed on. failed: number of frames without detections among them. head:
    pts of the last frame, seconds. finished: the source's last event, None until then. before: number of frames that an earlier run
    inferred.
    """

    path: Path
    info: SourceInfo | None = None
    frames: int = 0
    failed: int = 0
    head: float | None = None
    finished: SourceFinished | None = None
    before: int = 0

    @classmethod
    def continued(cls, path: Path, position: Position | None) -> Self:
        """The progress of a source that continues an earlier run. position: where that run stopped, None = there was none."""
        if position is None:
            return cls(path)
        failed = sum(position.failed.values())
        return cls(path, None, position.frames, failed, position.pts, None, position.frames - failed)

    def after(self, event: SourceEvent) -> Self:
        """The progress after one more event of this source."""
        match event:
            case SourceOpened(_, info):
                return replace(self, info=info)
            case FramesDone(_, frames):
                failed = sum(frame.failure is not None for frame in frames)
                return replace(self, frames=self.frames + len(frames), failed=self.failed + failed, head=frames[-1].ref.pts)
            case SourceFinished():
                return replace(self, finished=event)

    @property
    def ledger(self) -> Ledger:
        """Where the frames went. Until the source is finished: those handed on, without reasons."""
        if self.finished is not None:
            return self.finished.ledger
        return Ledger(self.frames, self.frames - self.failed, {}, {Notice("pool.other_reasons"): self.failed} if self.failed else {})

    @property
    def seconds(self) -> float:
        """Time from the first segment to the end; 0 until the source is finished."""
        return self.finished.seconds if self.finished is not None else 0.0

    @property
    def decoder(self) -> DecoderUse:
        """What decoded the frames; empty until the source is finished."""
        return self.finished.decoder if self.finished is not None else DecoderUse()

    @property
    def error(self) -> Notice | None:
        """Why the source could not be opened or read to its end."""
        return self.finished.error if self.finished is not None else None

    @property
    def complete(self) -> bool:
        """Whether the source is finished and was not cancelled."""
        return self.finished is not None and not self.finished.cancelled
