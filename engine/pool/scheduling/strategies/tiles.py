"""Strategy ``tiles``: each frame is cut into tiles for all devices. For frames much larger than the network's input."""

from engine.pool.scheduling.strategies.frames import Frames


class Tiles(Frames):
    """Like ``Frames``, but the members take tiles of a frame."""

    name = "tiles"
    splits_frames = True
