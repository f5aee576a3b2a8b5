"""Backend for the strategy ``tiles``: cuts a picture into overlapping tiles for all devices and merges their boxes."""

import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import NoReturn

import numpy as np

from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.detection.tiling import Tiling, merge, plan_tiles
from framefleet.engine.errors import unexpected
from framefleet.engine.media.types import DeviceFrame
from framefleet.engine.notices import Notice
from framefleet.engine.pool.groups.group import Group
from framefleet.engine.pool.groups.shared_batch import SharedBatch
from framefleet.engine.pool.protocol import DeviceEvent, Failed, Setup
from framefleet.engine.processes.watchdog import Watchdog
from framefleet.engine.settings import EngineSettings, Hint
from framefleet.engine.types import Detections, DeviceId, EngineInfo, Found, Image, InferenceFailure

GPU_BATCH = 8
"""Default batch of tiles on a GPU: enough to fill it, few enough to spread a picture's tiles evenly."""

PICTURES = 8
"""Most pictures cut at once with ``Hint.THROUGHPUT``: the tiles of one small picture would not fill the batches."""

SLOTS = 3
"""Batches of pictures under way: one is inferred, the next one waits, and the results of the previous one are delivered."""


class TilesBackend(Group):
    """A group whose devices work together on each picture."""

    spread_evenly = True
    takes_planes = False  # tiles are cut from pictures

    def __init__(self, setup: Setup, report: Callable[[DeviceEvent], None], die: Callable[[Failed], NoReturn], watchdog: Watchdog) -> None:
        super().__init__(setup, report, die, watchdog)
        # a group of one device has the name of that device
        self._name = self.device if len(self.device.members) > 1 else self.device.members[0]

    def _settings_of(self, member: DeviceId, settings: EngineSettings) -> EngineSettings:
        # one picture is many batches, so that its latency depends on the throughput
        batch = GPU_BATCH if settings.batch is None and member.kind == "cuda" else settings.batch
        return replace(settings, batch=batch, hint=Hint.THROUGHPUT)

    def _describe(self, engines: Sequence[EngineInfo], settings: EngineSettings) -> EngineInfo:
        info = super()._describe(engines, settings)
        return replace(info, batch=1 if settings.hint is Hint.LATENCY else min(PICTURES, info.batch), slots=SLOTS)

    def _submit_impl(self, images: Sequence[HostImage | DeviceFrame], still: bool) -> Future[list[Found]]:
        cut = [(image, self._plan(image)) for image in images if isinstance(image, np.ndarray)]
        # the last tile, usually the whole picture, goes first: its upload takes longest and should not delay the end
        places = [(image, box) for image, tiling in cut for box in np.roll(tiling.boxes, 1, axis=0).tolist()]
        parts = [image[top:bottom, left:right] for image, (left, top, right, bottom) in places]
        shared = SharedBatch(len(images), self._name)
        tilings = [tiling for _, tiling in cut]

        def join(found: Future[list[Found]]) -> None:
            assert isinstance(found, SharedBatch)
            shared.shares = _shares(tilings, found.devices)
            start = 0
            for position, tiling in enumerate(tilings):
                first, *others = found.result()[start : start + len(tiling)]
                shared.put(position, self._name, self._merge(tiling, [*others, first]))
                start += len(tiling)

        self._member_pool.put(parts, still).add_done_callback(join)
        return shared

    def _merge(self, tiling: Tiling, tiles: Sequence[Found]) -> Found:
        """A picture's result from those of its tiles. If a tile failed, the picture fails."""
        for tile in tiles:
            if isinstance(tile, InferenceFailure):
                return tile
        try:
            return merge(tiling, [tile for tile in tiles if isinstance(tile, Detections)], self._setup.engine.iou)
        except Exception as problem:  # an executor's callback would swallow it
            traceback.print_exception(problem)
            return InferenceFailure(Notice("pool.tiles_not_merged", problem=unexpected(problem)))

    def _plan(self, image: Image) -> Tiling:
        height, width = image.shape[:2]
        return plan_tiles(width, height, self.info.width, self.info.height, self._setup.tiles)


def _shares(tilings: Iterable[Tiling], devices: Sequence[DeviceId]) -> dict[DeviceId, float]:
    """Each device's part of the tiles, in pictures."""
    shares: dict[DeviceId, float] = {}
    start = 0
    for tiling in tilings:
        for device, count in Counter(devices[start : start + len(tiling)]).items():
            shares[device] = shares.get(device, 0.0) + count / len(tiling)
        start += len(tiling)
    return shares
