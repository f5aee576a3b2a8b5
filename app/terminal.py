"""Prepares the standard streams: every file name can be printed, none breaks or turns a line, and a lost reader does not end the run."""

import codecs
import os
import re
import sys
from io import TextIOWrapper
from typing import TextIO

from framefleet.engine.notices import printable

_LAYOUT = re.compile("([\b\n\r]+)")
"""What lines and progress bars are made of."""


class WrongUsage(SystemExit):
    """Ends the program after an error of its arguments, which is already printed. message: the error."""

    def __init__(self, message: str) -> None:
        super().__init__(2)
        self.message = message


class HarmlessStream(TextIOWrapper):
    """A stream that writes control characters and marks of direction as text: names of files and classes may come from others."""

    def write(self, text: str) -> int:
        """Write the text."""
        if not text.isprintable():
            text = "".join(part if number % 2 else printable(part) for number, part in enumerate(_LAYOUT.split(text)))
        return super().write(text)


class LastingStream(HarmlessStream):
    """Standard error that ignores a lost reader: the reading program ended, or the terminal was closed."""

    def write(self, text: str) -> int:
        """Write the text. If that fails, this text and all later ones are discarded."""
        try:
            return super().write(text)
        except OSError:
            self._discard()
            return len(text)

    def flush(self) -> None:
        """Write the buffered text. If that fails, discard it and all later text."""
        try:
            super().flush()
        except OSError:
            self._discard()

    def _discard(self) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)


def print_line(text: object, stream: TextIO | None = None) -> None:
    """Print one line, by default on standard output. A line break in it, as in the name of a file, becomes text, too."""
    stream = stream or sys.stdout
    print(printable(str(text)), file=stream, flush=stream is sys.stderr)


def prepare() -> None:
    """Prepare the streams. Call it once, before anything is printed. Streams that are not files, as in tests, do not change."""
    _open_closed_streams()
    if sys.stderr is sys.__stderr__ and isinstance(sys.stderr, TextIOWrapper):
        sys.stderr = LastingStream(sys.stderr.buffer, sys.stderr.encoding, line_buffering=True)
    if sys.stdout is sys.__stdout__ and isinstance(sys.stdout, TextIOWrapper):
        old = sys.stdout
        sys.stdout = HarmlessStream(old.buffer, old.encoding, line_buffering=old.line_buffering, write_through=old.write_through)
    codecs.register_error("readable", _readable)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="readable")  # a file name that the encoding lacks must not raise


def _readable(problem: UnicodeError) -> tuple[str | bytes, int]:
    r"""Write bytes of file names that are not text as results do, ``\xHH``, and characters that the encoding lacks as Python does."""
    if isinstance(problem, UnicodeEncodeError) and 0xDC80 <= (code := ord(problem.object[problem.start])) <= 0xDCFF:
        return f"\\x{code - 0xDC00:02X}", problem.start + 1
    return codecs.backslashreplace_errors(problem)


def _open_closed_streams() -> None:
    """Open the streams that the parent process closed (2>&-), so that no other file gets their numbers."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            number = os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this stream's
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, "r" if name == "stdin" else "w", encoding="utf-8"))


PLAIN_SECONDS = 10.0
"""Between two lines of progress if standard error is not a terminal."""


def draws() -> bool:
    """Whether standard error is a terminal that can show a bar. The terminal of a container may report zero lines."""
    return sys.stderr.isatty() and os.get_terminal_size(sys.stderr.fileno()).lines > 0
