"""Reads from a picture's EXIF data when the camera took it."""

from io import BytesIO
from typing import Any

from PIL import ExifTags, Image

Image.MAX_IMAGE_PIXELS = None  # no pixels are read here

_TIMES = (
    (ExifTags.Base.DateTimeOriginal, ExifTags.Base.SubsecTimeOriginal, ExifTags.Base.OffsetTimeOriginal),
    (ExifTags.Base.DateTimeDigitized, ExifTags.Base.SubsecTimeDigitized, ExifTags.Base.OffsetTimeDigitized),
)
"""Tags of time, fraction of a second and offset from UTC (Exif 3.0, section 4.6.6). The tag DateTime is not used: it says when the file was
changed.
"""


def time_taken(content: Any) -> str | None:
    """Return when a picture was taken, such as ``2026-11-01T08:00:00.25+01:00``, as its EXIF data say it; None if they do not.

    content: the bytes of the file. Whether the time is possible is not checked.
    """
    try:
        with Image.open(BytesIO(content)) as picture:
            if picture.format == "PNG" and "exif" not in picture.info:
                return None  # Pillow would decode the picture to look behind it
            tags = picture.getexif().get_ifd(ExifTags.IFD.Exif)
    except Exception:  # damaged EXIF data raise errors of many kinds, and the picture can be used without them
        return None
    for time, fraction, offset in _TIMES:
        date, _, clock = _text(tags.get(time)).partition(" ")
        if date.strip(":0 ") and clock:
            digits = _text(tags.get(fraction))
            return f"{date.replace(':', '-')}T{clock}{f'.{digits[:6]}' if digits.isdecimal() else ''}{_text(tags.get(offset))}"
    return None


def _text(value: object) -> str:
    """Return the value of a tag as text without padding, "" if it is none."""
    return value.strip("\0 ") if isinstance(value, str) else ""
