"""``frames``: a picture is decoded once and goes, with others, to whichever device has a slot free."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future

from engine.pool.groups.group import Group
from engine.types import Detections, Image


class FramesBackend(Group):
    """Every picture is one device's."""

    def _submit_impl(self, images: Sequence[Image], still: bool) -> Future[list[Detections]]:
        return self._member_pool.put(images, still)
