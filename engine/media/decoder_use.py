"""Says what decoded the frames of a source. Loads no media library, so the window may import it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DecoderUse:
    """What decoded the frames of a source.

    nvdec, cpu: numbers of frames. reason: why the CPU decoded frames although the device has NVDEC, "" if that did not happen.
    """

    nvdec: int = 0
    cpu: int = 0
    reason: str = ""

    def __add__(self, other: DecoderUse) -> DecoderUse:
        return DecoderUse(self.nvdec + other.nvdec, self.cpu + other.cpu, self.reason or other.reason)

    @property
    def name(self) -> str:
        """ "nvdec", "cpu", "nvdec+cpu" if both decoded frames, "" if none did."""
        return "+".join(name for name, frames in (("nvdec", self.nvdec), ("cpu", self.cpu)) if frames)

    def __str__(self) -> str:
        """Return one phrase for reports, "" if there are no frames."""
        why = f": {self.reason}" if self.reason else ""
        if self.nvdec and self.cpu:
            return f"decoded by NVDEC, {self.cpu} of {self.nvdec + self.cpu} frames by the CPU{why}"
        if self.cpu:
            return f"decoded by the CPU{why}"
        return "decoded by NVDEC" if self.nvdec else ""
