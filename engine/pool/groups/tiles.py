"""``tiles``: a picture is cut into overlapping tiles, which go to whichever device has a slot free; boxes are merged at the seams."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import NoReturn

import numpy as np

from engine.detection.tile_merging import merge
from engine.detection.tiling import Tiling, plan_tiles
from engine.pool.groups.group import Group
from engine.pool.groups.shared_batch import SharedBatch
from engine.pool.protocol import Failed, Member, Setup
from engine.processes.watchdog import Watchdog
from engine.settings import EngineSettings, Hint
from engine.types import Detections, DeviceId, EngineInfo, Image

GPU_BATCH = 8
"""Tiles that a GPU gets at once unless told otherwise: enough to fill it, few enough that a picture's tiles are spread evenly."""

PICTURES = 8
"""The most pictures that are cut at once, where the most pictures per second are wanted: small grids would not fill the batches."""

SLOTS = 3
"""Times as many may be under way: the tiles of one are done, those of the next wait, the results of the one before are delivered."""


class TilesBackend(Group):
    """All devices work on each picture."""

    spread_evenly = True

    def __init__(self, setup: Setup, tell: Callable[[Member], None], die: Callable[[Failed], NoReturn], watchdog: Watchdog) -> None:
        super().__init__(setup, tell, die, watchdog)
        # a group of one has that one's name
        self._name = self.device if len(self.device.members) > 1 else self.device.members[0]

    def _settings_of(self, member: DeviceId, settings: EngineSettings) -> EngineSettings:
        # the tiles of one picture are many batches: the sooner they are all done, the sooner it is
        batch = GPU_BATCH if settings.batch is None and member.kind == "cuda" else settings.batch
        return replace(settings, batch=batch, hint=Hint.THROUGHPUT)

    def _describe(self, engines: Sequence[EngineInfo], settings: EngineSettings) -> EngineInfo:
        info = super()._describe(engines, settings)
        return replace(info, batch=1 if settings.hint is Hint.LATENCY else min(PICTURES, info.batch), slots=SLOTS)

    def _submit_impl(self, images: Sequence[Image], still: bool) -> Future[list[Detections]]:
        cut = [(image, self._plan(image)) for image in images]
        # the last one, usually the whole picture, first: its upload takes longest, and should not delay the end
        places = [(image, box) for image, tiling in cut for box in np.roll(tiling.boxes, 1, axis=0).tolist()]
        parts = [image[top:bottom, left:right] for image, (left, top, right, bottom) in places]
        shared = SharedBatch(len(images), self._name)
        tilings = [tiling for _, tiling in cut]

        def join(found: Future[list[Detections]]) -> None:
            assert isinstance(found, SharedBatch)
            shared.shares = _shares(tilings, found.devices)
            start = 0
            for position, tiling in enumerate(tilings):
                numbers = range(start, start + len(tiling))
                failure = next((found.failures[number] for number in numbers if number in found.failures), None)
                whole = None
                if failure is None:
                    first, *others = found.result()[start : numbers.stop]
                    try:
                        whole = merge(tiling, [*others, first], self._setup.engine.iou)
                    except Exception as problem:  # an executor's callback would swallow it
                        traceback.print_exception(problem)
                        failure = f"its tiles cannot be merged: {type(problem).__name__}: {problem}"
                shared.put(position, self._name, whole, failure or "")
                start = numbers.stop

        self._member_pool.put(parts, still).add_done_callback(join)
        return shared

    def _plan(self, image: Image) -> Tiling:
        height, width = image.shape[:2]
        return plan_tiles(width, height, self.info.width, self.info.height, self._setup.tiles)


def _shares(tilings: Iterable[Tiling], devices: Sequence[DeviceId]) -> dict[DeviceId, float]:
    """How many pictures' worth of tiles each device did."""
    shares: dict[DeviceId, float] = {}
    start = 0
    for tiling in tilings:
        for device, count in Counter(devices[start : start + len(tiling)]).items():
            shares[device] = shares.get(device, 0.0) + count / len(tiling)
        start += len(tiling)
    return shares
