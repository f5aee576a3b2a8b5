"""Reads from a picture's EXIF data when the camera took it."""

import re
import warnings
from io import BytesIO
from typing import Any

from PIL import ExifTags, Image

from framefleet.engine.settings.clock import time_in_metadata

Image.MAX_IMAGE_PIXELS = None  # no pixels are read here
warnings.filterwarnings("ignore", module=r"PIL\.")  # about damaged EXIF data, which are not used

_TIMES = (
    (ExifTags.Base.DateTimeOriginal, ExifTags.Base.SubsecTimeOriginal, ExifTags.Base.OffsetTimeOriginal),
    (ExifTags.Base.DateTimeDigitized, ExifTags.Base.SubsecTimeDigitized, ExifTags.Base.OffsetTimeDigitized),
)
"""Tags of time, fraction of a second and offset from UTC (Exif 3.0, section 4.6.6). The tag DateTime is not used: it says when the file was
changed.
"""


_TIME = re.compile(r"(\d{4})[:/.-](\d\d)[:/.-](\d\d)[T ]+(\d\d:\d\d:\d\d)")
_OFFSET = re.compile(r"([+-])([01]?\d):?([0-5]\d)")


def time_taken(content: Any) -> str | None:
    """Return when a picture was taken, such as ``2026-11-01T08:00:00.25+01:00``, as its EXIF data say it; None if they do not.

    An offset from UTC that is unknown or cannot be read is left out. content: the bytes of the file.
    """
    try:
        with Image.open(BytesIO(content)) as picture:
            if picture.format == "PNG" and "exif" not in picture.info:
                return None  # Pillow would decode the picture to look behind it
            tags = picture.getexif().get_ifd(ExifTags.IFD.Exif)
    except Exception:  # damaged EXIF data raise errors of many kinds, and the picture can be used without them
        return None
    for names in _TIMES:
        text = _in_iso_8601(*(_text(tags.get(name)) for name in names))
        if time_in_metadata(text) is not None:
            return text
    return None


def _in_iso_8601(time: str, fraction: str, offset: str) -> str:
    found, zone = _TIME.match(time), _OFFSET.fullmatch(offset.upper().replace("Z", "+00:00"))
    if found is None:
        return ""
    year, month, day, clock = found.groups()
    part = f".{fraction[:6]}" if fraction.isdecimal() else ""
    return f"{year}-{month}-{day}T{clock}{part}" + (f"{zone[1]}{zone[2]:0>2}:{zone[3]}" if zone else "")


def _text(value: object) -> str:
    """Return the value of a tag as text without padding, "" if it is none."""
    return value.strip("\0 ") if isinstance(value, str) else ""
