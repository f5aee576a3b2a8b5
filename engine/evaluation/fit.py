"""Finds the frames of a session that a truth describes, and its classes. Refuses a truth that does not fit, and says why."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.errors import UsageError
from framefleet.engine.evaluation.matching import Boxes
from framefleet.engine.evaluation.truth import Truth, TruthPicture
from framefleet.engine.media.sources import is_picture
from framefleet.engine.media.types import SourceKind
from framefleet.engine.store.export.planning import source_stems
from framefleet.engine.store.exporters.pictures.names import picture_name
from framefleet.engine.store.schema import reading
from framefleet.engine.store.session import SessionReader, StoredSource

_SHOWN = 3


@dataclass(frozen=True)
class Frame:
    """A stored frame. index: in its source. time: seconds. failed: whether it has no detections because it could not be processed."""

    source: int
    index: int
    time: float
    width: int
    height: int
    failed: bool


@dataclass(frozen=True, eq=False)
class Fitted:
    """A session's detections in the pictures of a truth.

    sources: of the session. frames: of each picture of the truth; None: the session does not have it. found: the detections, with the
    truth's indices of pictures and classes. unused: labels of detections in these pictures that the truth does not know. stored: least
    confidence that the run stored.
    """

    sources: tuple[StoredSource, ...]
    frames: tuple[Frame | None, ...]
    found: Boxes
    unused: tuple[str, ...]
    stored: float


def fit(truth: Truth, reader: SessionReader, renamed: Mapping[str, str] | None = None, *, common: bool = False) -> Fitted:
    """Find the truth's pictures and classes in a session. renamed: labels of the session by labels of the truth.

    common: pictures that the session does not have are left out, instead of an error.

    Raises:
        UsageError: labels, pictures or sizes do not fit.
        ExportError: the session cannot be read.
    """
    classes = _classes(truth, reader, renamed or {})
    sources = tuple(reader.sources())
    stored = _Frames(reader, sources)
    frames = stored.find(truth)
    known = [frame for frame in frames if frame is not None]
    missing = [picture for picture, frame in zip(truth.pictures, frames, strict=True) if frame is None]
    if missing and (not common or not known):
        raise UsageError(_missing(truth, reader, sources, missing) + stored.ambiguity(missing))
    if len({(frame.source, frame.index) for frame in known}) < len(known):
        raise UsageError(f"{truth.file} describes a frame of {reader.path} more than once: remove one description")
    for picture, frame in zip(truth.pictures, frames, strict=True):
        if frame is not None and picture.size is not None and picture.size != (frame.width, frame.height):
            width, height = picture.size
            raise UsageError(
                f"{truth.file} says that {_name(picture)} has {width}×{height} pixels, but in {reader.path} it has "
                f"{frame.width}×{frame.height}: use the truth of the same pictures"
            )
    found, unused = _found(reader, sources, frames, classes)
    with reading(reader.path):
        least = float(reader.facts.get("confidence", 0))
    return Fitted(sources, tuple(frames), found, tuple(reader.labels[number] for number in unused), least)


def true_boxes(truth: Truth, frames: tuple[Frame | None, ...]) -> Boxes:
    """Return the true objects in pixels. frames: of each picture; objects of pictures without a frame are left out."""
    boxes = truth.boxes
    if truth.relative:
        sizes = np.array([(frame.width, frame.height) if frame else (1, 1) for frame in frames], np.float64).reshape(-1, 2)
        boxes = boxes * np.hstack([sizes, sizes])[truth.of_picture]
    every = Boxes(truth.of_picture, truth.classes, boxes, np.ones(len(boxes)), truth.ignored)
    return every.select(np.array([frame is not None for frame in frames], bool)[truth.of_picture])


def _classes(truth: Truth, reader: SessionReader, renamed: Mapping[str, str]) -> NDArray[np.int64]:
    """The truth's class for each of the session's, -1 if it has none: int64 (session's classes,)."""
    of_session = {_plain(label): number for number, label in enumerate(reader.labels)}
    result = np.full(len(reader.labels), -1)
    unknown = []
    for wrong in set(renamed) - set(truth.labels):
        raise UsageError(f"{truth.file} has no label '{wrong}': its labels are {_list(truth.labels)}")
    used = set(truth.classes.tolist())
    for number, label in enumerate(truth.labels):
        place = of_session.get(_plain(renamed.get(label, label)))
        if place is None and number in used:
            unknown.append(label)
        elif place is not None and result[place] >= 0:
            raise UsageError(f"{truth.file}: '{truth.labels[result[place]]}' and '{label}' are the same class of {reader.path}")
        elif place is not None:
            result[place] = number
    if unknown:
        raise UsageError(
            f"{truth.file} has objects with the labels {_list(unknown)}, which {reader.path} does not know; its labels are "
            f"{_list(reader.labels)}: give --map '{unknown[0]}=LABEL', or the truth for this model"
        )
    return result


def _found(
    reader: SessionReader, sources: tuple[StoredSource, ...], frames: list[Frame | None], classes: NDArray[np.int64]
) -> tuple[Boxes, list[int]]:
    pictures_of: dict[int, dict[int, int]] = {}
    for number, frame in enumerate(frames):
        if frame is not None:
            pictures_of.setdefault(frame.source, {})[frame.index] = number
    parts = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros((0, 4)))]
    for source in sources:
        if mine := pictures_of.get(source.number):
            first, last = min(mine), max(mine)
            picture_of = np.full(last - first + 1, -1)
            picture_of[np.fromiter(mine, np.int64) - first] = [*mine.values()]
            table = reader.detection_table(source.number, first, last)
            parts.append((picture_of[table.frames - first], table.class_ids, table.scores, table.boxes))
    pictures, class_ids, scores, boxes = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    known = np.isin(class_ids, np.flatnonzero(classes >= 0))
    unused = np.unique(class_ids[(pictures >= 0) & ~known])
    boxes[:, 2:] -= boxes[:, :2]
    found = Boxes(pictures, class_ids, boxes, scores, np.zeros(len(pictures), bool)).select((pictures >= 0) & known)
    return replace(found, classes=classes[found.classes]), [number for number in unused.tolist() if number < len(classes)]


class _Frames:
    """Finds the stored frames of pictures, by the names of their files, or by their index in the only video of the session."""

    def __init__(self, reader: SessionReader, sources: tuple[StoredSource, ...]) -> None:
        self._by_name: dict[str, Frame | None] = {}  # None: several frames have this name
        self._by_index: dict[int, Frame] = {}
        stems = source_stems(sources)
        self._folders = {*stems} | {Path(source.path).name for source in sources}
        videos = [source for source in sources if source.kind is SourceKind.VIDEO]
        for source, stem in zip(sources, stems, strict=True):
            for frame, names in _stored(reader, source, stem):
                for name in names:
                    self._by_name[name] = None if name in self._by_name else frame
                if len(videos) == 1 and source is videos[0]:
                    self._by_index[frame.index] = frame

    def find(self, truth: Truth) -> list[Frame | None]:
        return [self._find(picture) for picture in truth.pictures]

    def _find(self, picture: TruthPicture) -> Frame | None:
        if picture.name:
            parts = _without_suffix(picture.name.replace("\\", "/")).parts
            for start in range(len(parts)):
                if 0 < start == len(parts) - 1 and parts[start - 1] in self._folders:
                    break  # without its folder, the name would be that of a picture in another one
                if frame := self._by_name.get("/".join(parts[start:])):
                    return frame
        return None if picture.frame is None else self._by_index.get(picture.frame)

    def ambiguity(self, missing: Sequence[TruthPicture]) -> str:
        """A sentence about the first missing picture whose name several sources have; "" if there is none."""
        for picture in missing:
            name = _without_suffix(picture.name).as_posix()
            if name in self._by_name and self._by_name[name] is None:
                whole = min((each for each, frame in self._by_name.items() if frame and each.endswith(f"/{name}")), default="")
                example = f"'{whole.removesuffix(name)}{picture.name}'" if whole else "'folder/clip.mp4#12' for a frame of a video"
                return f". Several sources have a picture '{picture.name}': write the folder in front of the name, as in {example}"
        return ""


def _stored(reader: SessionReader, source: StoredSource, unique: str) -> Iterator[tuple[Frame, tuple[str, ...]]]:
    """Yield the frames of a source, each with the names by which a truth may know it: without suffix, with and without folder.

    unique: the source's stem in exports.
    """
    stem, file = Path(source.path).stem, Path(source.path).name
    for rows in reader.frame_rows(source.number, 10_000):
        for index, pts, width, height, failure, name, _ in rows:
            frame = Frame(source.number, int(index), float(pts), int(width), int(height), failure is not None)
            if source.kind is SourceKind.VIDEO:
                timed = picture_name(frame.time)
                names: tuple[str, ...] = (
                    timed,
                    f"{unique}/{timed}",
                    f"{stem}/{timed}",
                    f"{source.name}#{frame.index}",
                    f"{file}#{frame.index}",
                )
            else:
                whole = Path(name or source.path).as_posix()
                path = _without_suffix(whole)
                folders = f"{stem}/{path.name}", f"{source.name}/{path.name}"
                names = path.name, "/".join(path.parts[-2:]), *folders, str(path), whole.replace(".", "_")
            yield frame, tuple(dict.fromkeys(names))


def _without_suffix(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    return path.with_suffix("") if is_picture(path) else path


def _missing(truth: Truth, reader: SessionReader, sources: tuple[StoredSource, ...], missing: list[TruthPicture]) -> str:
    some = _list([_name(picture) for picture in missing])
    if len(missing) < len(truth.pictures):
        return (
            f"{reader.path} does not have {len(missing):,} of the {len(truth.pictures):,} pictures of {truth.file} ({some}): "
            "detect in all of them, or give --common to compare the others only"
        )
    files = _list([Path(source.path).name for source in sources])
    return (
        f"{reader.path} has none of the {len(truth.pictures):,} pictures of {truth.file} ({some}); it is about {files}. Pictures are found "
        "by the names of their files. Frames of a video are found by the names that 'framefleet results --format coco' gives them, by "
        "names like clip.mp4#12 or, if the session has one video, by their number"
    )


def _name(picture: TruthPicture) -> str:
    return picture.name or f"frame {picture.frame}"


def _plain(label: str) -> str:
    return label.strip().casefold().replace("_", " ").replace("-", " ")


def _list(names: list[str] | tuple[str, ...]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(f"'{name[:80]}'" for name in names[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
