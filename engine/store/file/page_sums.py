"""The checksums behind an SQLite database: the CRC-32 of each of its pages, then a footer. See ``engine.store.file.checksums``."""

import os
import struct
from typing import BinaryIO, NamedTuple, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

MAGIC = b"FFLTCRC1"
FOOTER = struct.Struct(">IIII8s")
HEADER = struct.Struct(">16xH6xII60xI")
"""Of an SQLite database: page size, number of changes, number of pages, number of changes when the pages were counted."""
_CHUNK_PAGES = 256
_LEAST_PAGE = 512  # bytes


class DamagedError(Exception):
    """Pages of a session do not match their checksums. page_size: bytes. pages: their numbers, from 0; empty = unknown."""

    def __init__(self, page_size: int, pages: list[int]) -> None:
        super().__init__(f"{len(pages)} pages do not match their checksums")
        self.page_size, self.pages = page_size, pages


class Footer(NamedTuple):
    """The end of a file with checksums. pages: their number. page_size: bytes. changes: SQLite's count. crc: of the checksums."""

    pages: int
    page_size: int
    changes: int
    crc: int

    @classmethod
    def of(cls, stream: BinaryIO) -> Self | None:
        """The footer of a file, None if it has none."""
        end = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, end - FOOTER.size))
        found = stream.read(FOOTER.size)
        *numbers, magic = FOOTER.unpack(found) if len(found) == FOOTER.size else (b"",)
        return cls(*numbers) if magic == MAGIC else None

    @property
    def database_size(self) -> int:
        """Bytes before the checksums."""
        return self.pages * self.page_size

    def damaged_pages(self, stream: BinaryIO) -> list[int] | None:
        """The pages that do not match their checksums; empty if the checksums are damaged. None: all match, or others changed the file."""
        _, changes, _, again = header(stream)
        if changes == again != self.changes:
            return None  # another program that changes a session counts that in both places; it leaves the checksums as they are
        sums = b""
        if stream.seek(0, os.SEEK_END) == self.database_size + 4 * self.pages + FOOTER.size:
            stream.seek(self.database_size)
            sums = stream.read(4 * self.pages)
        if not sums or crc32(sums) != self.crc:
            return []
        different = np.flatnonzero(sums_of(stream, self.pages, self.page_size) != np.frombuffer(sums, "<u4"))
        return different.tolist() or None


def damage_in(stream: BinaryIO) -> DamagedError | None:
    """What is damaged in a file, None if nothing is, as far as that can be seen."""
    if (footer := Footer.of(stream)) is not None:
        pages = footer.damaged_pages(stream)
        return None if pages is None else DamagedError(footer.page_size, pages)
    page_size, changes, count, again = header(stream)
    rest = stream.seek(0, os.SEEK_END) - page_size * count
    if changes != again or page_size < _LEAST_PAGE or not 0 < rest <= 4 * count + FOOTER.size:
        return None
    # a process that was killed while it wrote the checksums leaves the first of them, and else nothing is there
    stream.seek(page_size * count)
    begun = stream.read(min(rest, 4 * count))
    return None if sums_of(stream, count, page_size).tobytes().startswith(begun) else DamagedError(page_size, [])


def header(stream: BinaryIO) -> tuple[int, int, int, int]:
    """The page size (bytes), the number of changes, of pages, and of changes when these were counted."""
    stream.seek(0)
    page_size, *counts = HEADER.unpack(stream.read(HEADER.size))
    return (65536 if page_size == 1 else page_size, *counts)


def sums_of(stream: BinaryIO, pages: int, page_size: int) -> NDArray[np.uint32]:
    """The checksums of the first pages of a file, uint32 (n,)."""
    stream.seek(0)
    sums = np.zeros(pages, "<u4")
    for first in range(0, pages, _CHUNK_PAGES):
        chunk = memoryview(stream.read(page_size * _CHUNK_PAGES))
        for page in range(first, min(first + _CHUNK_PAGES, pages)):
            start = (page - first) * page_size
            sums[page] = crc32(chunk[start : start + page_size])
    return sums
