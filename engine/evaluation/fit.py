"""Finds the frames of a session that a truth describes, and its classes. Refuses a truth that does not fit, and says why."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.evaluation.accuracy import Boxes
from framefleet.engine.evaluation.truth import FRAME_NAME, Truth, TruthPicture
from framefleet.engine.media.sources import is_picture
from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import Notice, UsageError
from framefleet.engine.store import export, facts, schema
from framefleet.engine.store.exporters.pictures import picture_name
from framefleet.engine.store.session import SessionReader, StoredSource

_MAX_SHOWN = 3
_ROBOFLOW = re.compile(r"(.+)_(jpe?g|png|bmp|webp|tiff?)\.rf\.[0-9A-Za-z]+(?:\.\w+)?", re.IGNORECASE)


@dataclass(frozen=True)
class Frame:
    """A stored frame.

    index: in its source. time: seconds. width, height: of the picture that the truth's boxes refer to. failed: whether it has no
    detections because it could not be processed. name: of a folder's picture, None for other frames.
    """

    source: int
    index: int
    time: float
    width: int
    height: int
    failed: bool
    name: str | None = None


@dataclass(frozen=True, eq=False)
class Fitted:
    """A session's detections in the pictures of a truth.

    sources: of the session. frames: of each picture of the truth; None: the session does not have it. found: the detections, with the
    truth's indices of pictures and classes. unused: labels of detections in these pictures that the truth does not know. looked_for: the
    truth's classes that the run looked for. stored: least confidence that the run stored. remarks: what a person should know.
    """

    sources: tuple[StoredSource, ...]
    frames: tuple[Frame | None, ...]
    found: Boxes
    unused: tuple[str, ...]
    looked_for: frozenset[int]
    stored: float
    remarks: tuple[Notice, ...] = ()


def classes_named(truth: Truth, names: Sequence[str] | None) -> frozenset[int]:
    """Return the truth's classes that have objects to be compared. names: labels or numbers of those that the user chose; None: all.

    Raises UsageError: the truth has no such label, or it looked for other classes.
    """
    known = frozenset(range(len(truth.labels))) if truth.looked_for is None else truth.looked_for
    if names is None:
        return known
    places: dict[str, list[int]] = {}
    for number, label in enumerate(truth.labels):
        places.setdefault(_plain(label), []).append(number)
    chosen = set()
    for name in names:
        if _plain(name) not in places:
            raise UsageError(Notice("evaluation.no_label", path=truth.file, label=name, labels=label_list(truth.labels)))
        chosen.update(places[_plain(name)])
    if not chosen & known:
        raise UsageError(Notice("evaluation.not_looked_for", path=truth.file, labels=label_list([truth.labels[each] for each in known])))
    return known & chosen


def fit(
    truth: Truth,
    reader: SessionReader,
    renamed: Mapping[str, str] | None = None,
    *,
    counted: frozenset[int] | None = None,
    common: bool = False,
) -> Fitted:
    """Find the truth's pictures and classes in a session.

    Parameters
    ----------
    truth : Truth
    reader : SessionReader
    renamed : mapping of str to str, optional
        Labels of the session by labels of the truth.
    counted : frozenset of int, optional
        Classes of the truth that must be in the session if they have objects. None: all.
    common : bool
        Leave out pictures that the session does not have, instead of an error.

    Raises
    ------
    UsageError
        Labels, pictures or sizes do not fit.
    ExportError
        The session cannot be read.
    """
    classes = _classes(truth, reader, renamed or {}, counted)
    sources = tuple(reader.sources())
    stored = _Frames(reader, sources)
    frames = stored.find(truth)
    known = [frame for frame in frames if frame is not None]
    missing = [picture for picture, frame in zip(truth.pictures, frames, strict=True) if frame is None]
    if missing and (not common or not known):
        raise UsageError(_missing(truth, reader, sources, missing, stored))
    if len({(frame.source, frame.index) for frame in known}) < len(known):
        raise UsageError(Notice("evaluation.frame_twice", path=truth.file, session=reader.path))
    stated = {source.number: source.size for source in sources if source.timed}
    for place, (picture, frame) in enumerate(zip(truth.pictures, frames, strict=True)):
        if frame is None:
            continue
        own = frame.width, frame.height
        of_video = stated.get(frame.source, own)  # the first size of its pictures, which may change
        if picture.size not in (None, own, of_video):
            sizes = {"true": "×".join(map(str, picture.size)), "stored": f"{frame.width}×{frame.height}"}
            raise UsageError(Notice("evaluation.size", path=truth.file, picture=picture.title, session=reader.path, **sizes))
        if of_video != own != picture.size:
            frames[place] = replace(frame, width=of_video[0], height=of_video[1])
    found, unused = _found(reader, sources, frames, classes)
    with schema.reading(reader.path):
        least, wanted = float(reader.facts.get("confidence", 0)), facts.looked_for(reader.facts)
    ours = range(len(reader.labels)) if wanted is None else wanted
    # a class that the session's model does not have at all has no objects in the truth: nothing is lost when it counts
    unknown = set(range(len(truth.labels))) - set(classes.tolist())
    mine = frozenset(int(classes[each]) for each in ours if each < len(classes) and classes[each] >= 0) | unknown
    remarks = (Notice("evaluation.frame_numbers", count=stored.numbered),) if stored.numbered else ()
    return Fitted(sources, tuple(frames), found, tuple(reader.labels[number] for number in unused), mine, least, remarks)


def true_boxes(truth: Truth, frames: tuple[Frame | None, ...]) -> Boxes:
    """Return the true objects in pixels. frames: of each picture; objects of pictures without a frame are left out."""
    boxes = truth.boxes
    if truth.relative:
        boxes = boxes * np.tile(_sizes(frames), 2)[truth.of_picture]
    every = Boxes(truth.of_picture, truth.classes, boxes, np.ones(len(boxes)), truth.ignored)
    return every.select(np.array([frame is not None for frame in frames], bool)[truth.of_picture])


def _sizes(frames: Sequence[Frame | None]) -> NDArray[np.float64]:
    """Width and height of frames, float64 (n, 2), pixels; 1 for None."""
    return np.array([(frame.width, frame.height) if frame else (1, 1) for frame in frames], np.float64).reshape(-1, 2)


def _classes(truth: Truth, reader: SessionReader, renamed: Mapping[str, str], counted: frozenset[int] | None) -> NDArray[np.int64]:
    """The truth's class for each of the session's, -1 if it has none: int64 (session's classes,)."""
    of_session: dict[str, list[int]] = {}
    for number, label in enumerate(reader.labels):
        of_session.setdefault(_plain(label), []).append(number)
    result = np.full(len(reader.labels), -1)
    unknown = []
    for wrong in set(renamed) - set(truth.labels):
        raise UsageError(Notice("evaluation.no_label", path=truth.file, label=wrong, labels=label_list(truth.labels)))
    used = set(truth.classes.tolist())
    for number, label in enumerate(truth.labels):
        places = of_session.get(_plain(renamed.get(label, label)))
        if places is None:
            if number in used and (counted is None or number in counted):
                unknown.append(label)
        elif result[places[0]] >= 0:
            pair = {"one": truth.labels[result[places[0]]], "other": label}
            raise UsageError(Notice("evaluation.same_class", path=truth.file, session=reader.path, **pair))
        else:
            result[places] = number
    if unknown:
        both = {"labels": label_list(unknown), "known": label_list(reader.labels)}
        raise UsageError(Notice("evaluation.unknown_label", path=truth.file, session=reader.path, first=unknown[0][:80], **both))
    return result


def _found(
    reader: SessionReader, sources: tuple[StoredSource, ...], frames: list[Frame | None], classes: NDArray[np.int64]
) -> tuple[Boxes, list[int]]:
    pictures_of: dict[int, dict[int, int]] = {}
    for number, frame in enumerate(frames):
        if frame is not None:
            pictures_of.setdefault(frame.source, {})[frame.index] = number
    sizes = _sizes(frames)
    parts = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros((0, 4)))]
    for source in sources:
        if mine := pictures_of.get(source.number):
            first, last = min(mine), max(mine)
            picture_of = np.full(last - first + 1, -1)
            picture_of[np.fromiter(mine, np.int64) - first] = [*mine.values()]
            for block in reader.blocks(source.number, first=first, last=last):
                pictures = picture_of[block.numbers[block.frame] - first]
                scale = (sizes[picture_of[block.numbers - first]] / np.maximum(block.sizes, 1))[block.frame]
                parts.append((pictures, block.class_ids, block.confidences.astype(np.float64), block.stored * np.tile(scale, 2)))
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
        self._exported: dict[str, Frame | None] = {}  # by the names that exports write for this session
        self._by_index: dict[int, Frame] = {}
        self.numbered = 0  # pictures that were found by the number in their name
        stems = export.source_stems(sources)
        self._numbered = {stem for source, stem in zip(sources, stems, strict=True) if stem != Path(source.path).stem}
        self._folders = {*stems} | {Path(source.path).name for source in sources}
        videos = [source for source in sources if source.kind is SourceKind.VIDEO]
        for source, stem in zip(sources, stems, strict=True):
            for frame, exported, names in _stored(reader, source, stem):
                for name in names:
                    self._by_name[name] = None if name in self._by_name else frame
                self._exported[exported] = None if exported in self._exported else frame
                if len(videos) == 1 and source is videos[0]:
                    self._by_index[frame.index] = frame

    def find(self, truth: Truth) -> list[Frame | None]:
        if any(self._numbered.intersection(PurePosixPath(picture.name).parts[:-1]) for picture in truth.pictures):
            self._by_name |= self._exported  # only exports number folders
        return [self._find(picture, truth.source) for picture in truth.pictures]

    def _find(self, picture: TruthPicture, source: str) -> Frame | None:
        for name in _names_of(picture, source):
            whole = name.replace("\\", "/")
            parts, short = PurePosixPath(whole).parts, _without_suffix(whole).parts
            for start in range(len(parts)):
                if 0 < start == len(parts) - 1 and parts[start - 1] in self._folders:
                    break  # without its folder, the name would be that of a picture in another one
                if frame := self._by_name.get("/".join(parts[start:])) or self._by_name.get("/".join(short[start:])):
                    return frame
        if picture.frame is not None:
            return self._by_index.get(picture.frame)
        number = FRAME_NAME.search(picture.name.replace("\\", "/"))
        frame = None if number is None else self._by_index.get(int(number[1]))
        self.numbered += frame is not None
        return frame

    def ambiguity(self, missing: Sequence[TruthPicture]) -> Notice | None:
        """What to write instead of the first missing picture whose name several sources have; None if there is none."""
        for picture in missing:
            name = _without_suffix(picture.name).as_posix()
            if name in self._by_name and self._by_name[name] is None:
                whole = min((each for each, frame in self._by_name.items() if frame and each.endswith(f"/{name}")), default="")
                example = f"{whole.removesuffix(name)}{picture.name}"
                if whole:
                    return Notice("evaluation.ambiguous_picture", picture=picture.name, example=example)
                return Notice("evaluation.ambiguous_frame", picture=picture.name)
        return None


def _stored(reader: SessionReader, source: StoredSource, unique: str) -> Iterator[tuple[Frame, str, tuple[str, ...]]]:
    """Yield the frames of a source, each with the name that exports write, and all names by which a truth may know it.

    Names are with and without folder, those of pictures also with suffix. unique: the source's stem in exports.
    """
    stem, file = Path(source.path).stem, Path(source.path).name
    for block in reader.blocks(source.number):
        for index, pts, width, height, failure, name, _ in block.frames:
            frame = Frame(source.number, int(index), float(pts), int(width), int(height), failure is not None, name)
            if source.kind is SourceKind.VIDEO:
                timed = picture_name(frame.time)
                exported = f"{unique}/{timed}"
                names: tuple[str, ...] = (
                    timed,
                    exported,
                    f"{stem}/{timed}",
                    f"{source.name}#{frame.index}",
                    f"{file}#{frame.index}",
                )
            else:
                whole = Path(name or source.path).as_posix()
                path = _without_suffix(whole)
                exported, known = f"{unique}/{path.name}", [whole.replace(".", "_")]
                for each in (path, PurePosixPath(whole)):
                    known += each.name, "/".join(each.parts[-2:]), f"{stem}/{each.name}", f"{source.name}/{each.name}", str(each)
                names = tuple(known)
            yield frame, exported, tuple(dict.fromkeys(names))


def _names_of(picture: TruthPicture, source: str) -> list[str]:
    """The names by which a picture may be known. Roboflow renames ``a.jpg`` to ``a_jpg.rf.HASH.jpg``. source: see ``Truth``."""
    renamed = _ROBOFLOW.fullmatch(picture.name)
    names = [picture.name, *((f"{renamed[1]}_{renamed[2]}", renamed[1]) if renamed else ())]
    if source and picture.frame is not None:
        names += f"{source}/{picture.name}", f"{source}#{picture.frame}"
    return [name for name in names if name]


def _without_suffix(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    return path.with_suffix("") if is_picture(path) else path


def _missing(
    truth: Truth, reader: SessionReader, sources: tuple[StoredSource, ...], missing: list[TruthPicture], stored: _Frames
) -> Notice:
    about = {"path": truth.file, "session": reader.path, "pictures": len(truth.pictures)}
    some = label_list([str(picture.title) for picture in missing])
    if len(missing) < len(truth.pictures):
        notice = Notice("evaluation.missing_pictures", missing=len(missing), some=some, **about)
    else:
        files = label_list([Path(source.path).name for source in sources])
        notice = Notice("evaluation.none_of_the_pictures", some=some, files=files, **about)
    more = stored.ambiguity(missing)
    return notice if more is None else Notice("evaluation.two_sentences", first=notice, second=more)


def _plain(label: str) -> str:
    return label.strip().casefold().replace("_", " ").replace("-", " ")


def label_list(names: Sequence[str]) -> Notice:
    """Return the first of these names in quotation marks, and how many others there are."""
    shown, more = tuple(f"'{name[:80]}'" for name in names[:_MAX_SHOWN]), len(names) - _MAX_SHOWN
    return Notice("evaluation.some_names", names=shown, more=more) if more > 0 else Notice("evaluation.names", names=shown)
