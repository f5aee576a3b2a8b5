"""Decides how many files a session knows in advance. The others wait in the queue, where the user can reorder them."""

from collections.abc import Iterable

from app.window.queue.item import QueueItem

FEWEST_AHEAD, MOST_AHEAD = 4, 256


class Ahead:
    """The number of unfinished files that a session knows."""

    def __init__(self) -> None:
        self._files = FEWEST_AHEAD

    def room(self, given: Iterable[QueueItem], devices: int) -> int:
        """The number of files to pass on now, so that no device waits even if it finishes them quickly.

        given: the files that the session already has.
        """
        ended = [item.ended for item in given]
        unfinished = ended.count(False)
        if ended and not unfinished:  # all were finished before more arrived
            self._files = min(2 * self._files, MOST_AHEAD)
        return max(max(self._files, 2 * devices) - unfinished, 0)
