"""Numbers out of a bit string, as video headers hold them."""

from __future__ import annotations


class Bits:
    """Reads a content from its first, highest bit on; behind its end there are zeros."""

    def __init__(self, content: bytes) -> None:
        self._value = int.from_bytes(content, "big")
        self._left = 8 * len(content)

    def take(self, count: int) -> int:
        """The next bits as an unsigned number."""
        self._left -= count
        return (self._value >> self._left if self._left >= 0 else self._value << -self._left) & (1 << count) - 1

    def golomb(self) -> int:
        """An unsigned Exp-Golomb code (ITU-T H.264, 9.1)."""
        zeros = 0
        while zeros < 32 and not self.take(1):
            zeros += 1
        return (1 << zeros) - 1 + self.take(zeros)
