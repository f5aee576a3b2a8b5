"""The statistics that the user can show over the picture."""

import time
from collections import deque

from framefleet.app.window.player.preview_client import Shown
from framefleet.app.window.queue.item import QueueItem
from framefleet.app.window.widgets import formats
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.media.types import SourceInfo
from framefleet.engine.types import FrameResult

SECONDS = 2.0
"""The number of shown pictures is a mean over this time."""


class Statistics:
    """Text about the shown file, its picture and its detections. ``on``: whether the user wants to see it."""

    def __init__(self) -> None:
        self.on = False
        self._times: deque[float] = deque()

    def count(self, now: float | None = None) -> None:
        """Count a shown picture. now: monotonic seconds."""
        now = time.monotonic() if now is None else now
        self._times.append(now)
        while now - self._times[0] > SECONDS:
            self._times.popleft()

    @property
    def rate(self) -> float:
        """Shown pictures per second, 0 with fewer than two."""
        return (len(self._times) - 1) / (self._times[-1] - self._times[0]) if len(self._times) > 1 else 0.0

    def text(
        self, item: QueueItem, info: SourceInfo, shown: Shown, result: FrameResult | None, visible: int, scale: float, playing: bool
    ) -> str:
        """The lines to show.

        result: of the picture, None = not detected yet. visible: number of boxes on the picture. scale: pixels of the screen for a pixel of
        the video. playing: the rate of shown pictures is known."""
        video = f"{info.width} × {info.height} · {info.codec}" + (
            translate("viewer", " · {rate} frames/s").format(rate=formats.rate(info.rate)) if info.rate else ""
        )
        found = translate("viewer", "not analysed")
        if result is not None:
            found = result.failure or translate("viewer", "{visible} of %Ln boxes · {device}", None, len(result.detections or ())).format(
                visible=formats.count(visible), device=result.device
            )
        detection = translate("viewer", "Detection: {summary}").format(summary=item.summary)
        picture = translate("viewer", "Shown: {width} × {height} ({scale})").format(
            width=shown.image.width(), height=shown.image.height(), scale=formats.part(scale)
        ) + (translate("viewer", " · {rate} frames/s").format(rate=formats.rate(self.rate)) if playing else "")
        return "\n".join(
            (
                item.path.name,
                video,
                translate("viewer", "At {pts}: {found}").format(pts=formats.clock(shown.pts - info.begin, 3), found=found),
                picture,
                detection,
            )
        )
