"""Reads the decoder library's messages on C's standard output, where alone it reports damaged pictures.

PyNvVideoCodec (2.2) prints "Decode Error occurred for picture N" during the decoding call, and then returns the concealed picture
without an error. This module therefore redirects C's standard output to a function. The function notes the printing thread and passes other
output on.
"""

import ctypes
import os
import threading
from functools import cache
from typing import Any

_DAMAGE = b"Decode Error"
_LINES = 1  # _IOLBF: the call that ends a line writes it, so the printing thread is known
_BUFFER = 4096
_OUTPUT = 1

_Write: Any = ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class _Functions(ctypes.Structure):
    """``cookie_io_functions_t`` of glibc and musl."""

    _fields_ = (("read", ctypes.c_void_p), ("write", _Write), ("seek", ctypes.c_void_p), ("close", ctypes.c_void_p))


class Messages:
    """Receives C's standard output of this process."""

    def __init__(self) -> None:
        """Redirect the output to this object. Raises OSError if this system's C library cannot redirect it."""
        try:
            library = ctypes.CDLL(None)
            output = ctypes.c_void_p.in_dll(library, "stdout")
            library.fopencookie.argtypes = (ctypes.c_void_p, ctypes.c_char_p, _Functions)
            library.fopencookie.restype = ctypes.c_void_p
        except (OSError, TypeError, ValueError, AttributeError) as problem:
            raise OSError(f"the C library's output cannot be redirected ({problem})") from problem
        library.setvbuf.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_size_t)
        self._damaged: set[int] = set()
        self._functions = _Functions(write=_Write(self._write))  # kept alive: C calls it until the process ends
        stream = library.fopencookie(None, b"w", self._functions)
        if not stream:
            raise OSError("the C library's output cannot be redirected")
        library.setvbuf(stream, None, _LINES, _BUFFER)
        library.fflush(output)
        output.value = stream

    def damage_reported(self) -> bool:
        """Whether this thread's decoding calls reported a damaged picture since the last call."""
        thread = threading.get_ident()
        if thread not in self._damaged:
            return False
        self._damaged.discard(thread)
        return True

    def _write(self, _cookie: int, address: int, size: int) -> int:
        text = ctypes.string_at(address, size)
        if _DAMAGE in text:
            self._damaged.add(threading.get_ident())
        else:
            os.write(_OUTPUT, text)
        return size


@cache
def messages() -> Messages:
    """The one ``Messages`` of this process, never released. Raises OSError: see ``Messages``."""
    return Messages()
