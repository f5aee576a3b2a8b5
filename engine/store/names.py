"""Names of files in results: as text that every program can read, and different for sources with the same base name."""

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

_ESCAPED = re.compile(rb"\\x([0-9A-F]{2})")


def readable(text: str) -> str:
    r"""Write each byte of file names that is not UTF-8 as ``\xHH``, with upper-case digits, since JSON and Qt accept valid text only."""
    return re.sub("[\udc80-\udcff]", lambda byte: f"\\x{ord(byte[0]) - 0xDC00:02X}", text).encode("utf-8", "replace").decode()


def readable_name(name: str) -> str:
    r"""Like ``readable`` for one name, which ``exact_name`` turns back. A backslash of the name becomes ``\x5C`` if ``xHH`` follows it."""
    return readable(re.sub(r"\\(?=x[0-9A-F]{2})", r"\\x5C", name))


def exact_name(text: str) -> str:
    """The file name that ``readable_name`` has written as this text."""
    return os.fsdecode(_ESCAPED.sub(lambda byte: bytes([int(byte[1], 16)]), os.fsencode(text)))


def name_key(name: str) -> str:
    """A text that is equal for names which some file systems take for the same: those that differ in case or in Unicode's form only."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def source_names(files: Sequence[Path]) -> list[str]:
    """A readable name for each source of a run: its base name, after the fewest folders that tell it from the others.

    files: absolute paths. The same file twice has the same name twice.
    """
    files = [Path(os.path.abspath(file)) for file in files]  # noqa: PTH100 (it removes "..", and "resolve" would follow links)
    parts = {file: file.parts for file in files}
    depths = dict.fromkeys(parts, 1)
    while True:
        names = {file: parts[file][-depth:] for file, depth in depths.items()}
        count = Counter(names.values())
        longer = [file for file, name in names.items() if count[name] > 1 and depths[file] < len(parts[file])]
        if not longer:
            return [readable_name(Path(*names[file]).as_posix()) for file in files]
        for file in longer:
            depths[file] += 1
