"""Reads numbers of a few bits, as the headers of video streams hold them."""

from __future__ import annotations


class Bits:
    """Reads bits from the highest bit of the first byte on. After the end of the content it reads zeros."""

    def __init__(self, content: bytes) -> None:
        self._value = int.from_bytes(content, "big")
        self._left = 8 * len(content)

    def take(self, count: int) -> int:
        """The next ``count`` bits as an unsigned number."""
        self._left -= count
        return (self._value >> self._left if self._left >= 0 else self._value << -self._left) & (1 << count) - 1

    def golomb(self) -> int:
        """The next unsigned Exp-Golomb code (ITU-T H.264, 9.1)."""
        zeros = 0
        while zeros < 32 and not self.take(1):
            zeros += 1
        return (1 << zeros) - 1 + self.take(zeros)
