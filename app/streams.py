"""The standard streams as a run needs them: there, able to show every name, and none of them worth losing results for."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper


class LastingStream(TextIOWrapper):
    """Standard error, which goes on when nobody reads it any more: a pipe's reader ended, or the terminal was closed."""

    def write(self, text: str) -> int:
        """As usual; what cannot be written is dropped, and so is all that follows."""
        try:
            return super().write(text)
        except OSError:
            self._give_up()
            return len(text)

    def flush(self) -> None:
        """As usual."""
        try:
            super().flush()
        except OSError:
            self._give_up()

    def _give_up(self) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)


def prepare() -> None:
    """To be called once, before anything is printed. Streams that are no files, as in tests, are left alone."""
    _open_closed_streams()
    if sys.stderr is sys.__stderr__ and isinstance(sys.stderr, TextIOWrapper):
        sys.stderr = LastingStream(sys.stderr.buffer, sys.stderr.encoding, line_buffering=True)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # no file name and no sign is worth an exception


def _open_closed_streams() -> None:
    """Whoever starts us may have closed a standard stream (2>&-): no reason to fail, or to let another file have its number."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            number = os.open(os.devnull, os.O_RDWR)  # the lowest that is free, which is this stream's
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, "r" if name == "stdin" else "w", encoding="utf-8"))
