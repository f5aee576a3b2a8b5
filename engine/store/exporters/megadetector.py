"""MegaDetector results, format 1.6 (https://lila.science/megadetector-output-format), read by Timelapse and AddaxAI.

Frames count from 0. Boxes are shares of the picture, origin top left. In sessions with tracks, detections have the key ``track``, null for
none; if a person corrected the session, ``verified``. Other programs ignore both.
"""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import Notice, Option
from framefleet.engine.store.clock import Clock
from framefleet.engine.store.exporters.base import Export, Exporter, marks, relative, text_output, to_json, write_list
from framefleet.engine.store.exporters.coco import has_coco_labels
from framefleet.engine.store.exporters.tallies import main_failure, many_failed
from framefleet.engine.store.session import StoredSource
from framefleet.engine.store.sources import readable_name
from framefleet.engine.types import FrameResult

_ANIMALS = ("bird", "cat", "dog", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe")
_VEHICLES = ("bicycle", "car", "motorcycle", "motorbike", "bus", "train", "truck")
CATEGORY_MAP = {**dict.fromkeys(_ANIMALS, "animal"), "person": "person", **dict.fromkeys(_VEHICLES, "vehicle")}
"""The categories of COCO's labels."""

STANDARD = ("animal", "person", "vehicle")
"""The categories with the ids 1, 2, 3, as in MegaDetector's own files."""

MAX_NAMED = 5
"""Most classes that the note about left out detections names."""


class _Categories:
    """Converts detections to the categories of the file.

    labels: of the session. categories: of each label, {} = ``CATEGORY_MAP``. tracked: whether the session has tracks.

    If the model has COCO's labels, detections whose label has no category are left out: chairs are false alarms at a camera trap. Other
    models may name species, so a label without a category is a category of its own. left_out: number of detections left out, by label.
    """

    def __init__(self, labels: Sequence[str], categories: Mapping[str, str], tracked: bool) -> None:
        self._labels, self._tracked = labels, tracked
        known = categories or CATEGORY_MAP
        species = {} if has_coco_labels(labels) else {label: label for label in labels}
        self._map = {label: known.get(label, species.get(label)) for label in labels}
        names = dict.fromkeys((*STANDARD, *filter(None, self._map.values())))
        self.ids = {name: str(number) for number, name in enumerate(names, 1)}
        self.left_out = Counter[str]()

    @property
    def note(self) -> Notice:
        """Which detections are left out; most frequent classes first."""
        labels = (*(label for label, _ in self.left_out.most_common(MAX_NAMED)), *["…"] * (len(self.left_out) > MAX_NAMED))
        return Notice("store.left_out", count=self.left_out.total(), labels=labels, option=Option("category-map"))

    def has_any(self, class_ids: Iterable[int]) -> bool:
        """Whether any of these classes has a category."""
        return any(self._map[self._labels[class_id]] is not None for class_id in class_ids)

    def detections(self, frame: FrameResult) -> list[dict[str, Any]]:
        """Return the detections of a frame as the file has them."""
        found, known = [], marks(frame.detections, self._tracked) if frame.detections is not None else []
        for place, class_id, score, box in relative(frame):
            label = self._labels[class_id]
            category = self._map[label]
            if category is None:
                self.left_out[label] += 1
                continue
            entry: dict[str, Any] = {"category": self.ids[category], "conf": score, "bbox": box, **known[place]}
            if category != label:
                entry["classifications"] = [[str(class_id), score]]
            found.append(entry)
        return found


def write(export: Export, file: TextIO) -> None:
    """Write all files of the session: an entry for each video and for each picture.

    Paths are relative to the folder that contains all sources. A detection whose label is not its category has the label as its
    classification. ``datetime`` is the clock time at which a video began or a picture was taken.
    """
    labels = export.labels
    categories = _Categories(labels, export.options.category_map, export.reader.has_tracks)
    info = {"format_version": "1.6", "detector": export.reader.facts.get("model", "Framefleet")}  # no date: two runs would differ
    file.write(
        f'{{"info": {to_json(info)},\n"detection_categories": {to_json({number: name for name, number in categories.ids.items()})},\n'
    )
    file.write(f'"classification_categories": {to_json({str(number): label for number, label in enumerate(labels)})},\n"images": [')
    base, separator = common_folder(export.sources), "\n"
    for source in export.sources:
        path = readable_name((source.file if base is None else source.file.relative_to(base)).as_posix())
        if source.kind is SourceKind.IMAGES:
            clock = Clock.of(export.reader, source)
            for frame in export.frames(source):
                name = path if frame.ref.name is None else f"{path}/{frame.ref.name}".removeprefix("./")
                found = categories.detections(frame) if frame.failure is None else None
                entry = {"file": name, **_datetime(clock.at(frame.ref.pts)), "detections": found}
                file.write(separator + to_json(entry | ({"failure": str(frame.failure)} if frame.failure is not None else {})))
                separator = ",\n"
        else:
            file.write(separator)
            _write_video(export, source, path, categories, file)
            separator = ",\n"
    file.write("\n]}\n")
    if categories.left_out:
        export.notes.append(categories.note)


def _write_failure(path: str, failure: str, file: TextIO) -> None:
    file.write(to_json({"file": path, "failure": failure, "detections": None, "frame_rate": 0, "frames_processed": []}))


def _write_video(export: Export, source: StoredSource, path: str, categories: _Categories, file: TextIO) -> None:
    """Write the entry of a video. One that could not be read, and of which the file has no detections, has the reason instead."""
    if source.info is None:
        _write_failure(path, "the file was not processed" if source.error is None else str(source.error), file)
        return
    unread = many_failed(source.ledger.inferred, sum(source.ledger.failed.values()))
    blocks = () if source.succeeded and not unread else export.reader.blocks(source.number)
    if blocks and not any(categories.has_any({*block.class_ids.tolist()}) for block in blocks):
        problem = source.error or (main_failure(source) if unread else None)
        # other programs would take the video for an empty one
        _write_failure(path, "the run was stopped before the end" if problem is None else str(problem), file)
        return
    head = {"file": path, "frame_rate": source.info.rate or 0, **_datetime(source.started)}
    file.write(f'{to_json(head)[:-1]}, "detections": ')
    frames = ((frame.ref.index, categories.detections(frame)) for frame in export.frames(source))
    write_list(file, (to_json(entry | {"frame_number": number}) for number, found in frames for entry in found))
    file.write(', "frames_processed": ')
    numbers = chain.from_iterable(block.numbers[block.inferred].tolist() for block in export.reader.blocks(source.number))
    write_list(file, map(str, numbers))
    file.write("}")


def _datetime(moment: datetime | None) -> dict[str, str]:
    """Return the clock time as in EXIF data, which MegaDetector's own program writes."""
    return {} if moment is None else {"datetime": moment.strftime("%Y:%m:%d %H:%M:%S")}


def common_folder(sources: Sequence[StoredSource]) -> Path | None:
    """Return the innermost folder that contains all sources, None if there is none. A folder of pictures contains itself."""
    folders = [source.file if source.kind is SourceKind.IMAGES and source.file.is_dir() else source.file.parent for source in sources]
    try:
        return Path(os.path.commonpath(folders))
    except ValueError:  # on different drives
        return None


EXPORTER = Exporter(
    "MegaDetector",
    "Results of camera traps, for Timelapse and AddaxAI",
    (text_output("megadetector.json", write, per_session=True),),
    options=("category_map",),
)
