"""Reads numbers that are a few bits long from the headers of video streams."""


class Bits:
    """Reads bits in order, from the highest bit of the first byte on. Reads zeros after the end of the content."""

    def __init__(self, content: bytes) -> None:
        self._value = int.from_bytes(content, "big")
        self._left = 8 * len(content)

    def take(self, count: int) -> int:
        """Read the next ``count`` bits as an unsigned number."""
        self._left -= count
        return (self._value >> self._left if self._left >= 0 else self._value << -self._left) & (1 << count) - 1

    def golomb(self) -> int:
        """Read the next unsigned Exp-Golomb code (ITU-T H.264, 9.1)."""
        zeros = 0
        while zeros < 32 and not self.take(1):
            zeros += 1
        return (1 << zeros) - 1 + self.take(zeros)
