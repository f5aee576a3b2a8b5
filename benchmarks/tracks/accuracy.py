"""Measures the accuracy of tracks on the demo's clip and on fresh streets (HOTA, IDF1, MOTA), and counts the causes of errors.

    pip install --no-deps trackeval==1.3.0 scipy
    python -m benchmarks.tracks.accuracy --streets FOLDER [--session SESSION] [--added 120000,130000,140000]

TrackEval computes the scores. It is installed without the OpenCV that it requires, which conflicts with the headless one. A track counts
where its class equals the true class. Objects that the truth marks as ignored, and tracks on them, are left out.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import shutil
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import report
from benchmarks.tracks import streets
from benchmarks.tracks.zones import detect
from framefleet.engine.evaluation.accuracy import read_truth
from framefleet.engine.store.session import SessionReader, StoredSource
from framefleet.engine.store.tracks import track_session
from framefleet.engine.tracking.association import overlaps
from framefleet.resources import DEMO

CAUSES = """Objects and boxes are counted once per frame. Each object has the one track that fits it best. "Another track": only other
tracks cover the object. "Confidence": that of the best detection of the right class on an object that no track covers."""
HIT = 0.5
"""Least intersection over union of a track's box and the true one."""


def compared(reader: SessionReader, source: StoredSource, truth: Path) -> dict[str, Any]:
    """The true objects and the tracks of each frame, as TrackEval takes them, and for each true object why it is not tracked."""
    objects: dict[int, list[dict[str, Any]]] = {}
    for each in read_truth(truth)["annotations"]:
        objects.setdefault(each["image_id"], []).append(each)
    classes = {number: class_id for number, class_id, *_ in reader.tracks(source.number)}
    true_ids: dict[int, int] = {}
    ids: dict[int, int] = {}
    data: dict[str, Any] = {"gt_ids": [], "tracker_ids": [], "similarity_scores": [], "reasons": []}
    for frame in reader.frames(source.number):
        found, here = frame.detections, objects.get(frame.ref.index, [])
        boxes = np.array([each["bbox"] for each in here], float).reshape(-1, 4)
        boxes[:, 2:] += boxes[:, :2]
        wanted = np.array([not each["iscrowd"] for each in here], bool)
        true_classes = np.array([each["category_id"] - 1 for each in here], int)
        tracks = np.zeros(0, int) if found is None or found.tracks is None else found.tracks
        tracked = np.flatnonzero(tracks >= 0)
        every = overlaps(boxes, np.zeros((0, 4)) if found is None else found.boxes.astype(float))
        table = every[:, tracked] * (true_classes[:, None] == np.array([classes[int(each)] for each in tracks[tracked]], int))
        ignored = every[~wanted][:, tracked].max(0, initial=0) >= HIT
        kept = ~(ignored & (table[wanted].max(0, initial=0) < HIT))
        data["gt_ids"].append(np.array([true_ids.setdefault(each["track_id"], len(true_ids)) for each in here], int)[wanted])
        data["tracker_ids"].append(np.array([ids.setdefault(int(each), len(ids)) for each in tracks[tracked][kept]], int))
        data["similarity_scores"].append(table[wanted][:, kept])
        data["reasons"].append(_reasons(every[wanted], true_classes[wanted], found))
    data |= {"num_timesteps": len(data["gt_ids"]), "num_gt_ids": len(true_ids), "num_tracker_ids": len(ids)}
    return data | {"num_gt_dets": sum(map(len, data["gt_ids"])), "num_tracker_dets": sum(map(len, data["tracker_ids"]))}


def _reasons(table: NDArray[np.float64], classes: NDArray[np.int64], found: Any) -> list[str]:
    """Why each true object may have no track: by the detections on it."""
    reasons = []
    for row, class_id in zip(table, classes, strict=True):
        hits = np.flatnonzero(row >= HIT)
        right = hits[found.class_ids[hits] == class_id] if len(hits) else hits
        score = found.scores[right].max() if len(right) else 0.0
        if not len(hits):
            reasons.append("no detection with an IoU of 0.5 or more")
        elif not len(right):
            reasons.append("only detections of another class")
        else:
            reasons.append("confidence below 0.1" if score < 0.1 else "confidence 0.1 to 0.6" if score < 0.6 else "confidence above 0.6")
    return reasons


def scores(parts: list[dict[str, Any]]) -> dict[str, float]:
    """HOTA, IDF1 and MOTA of several videos together, from TrackEval."""
    from trackeval.metrics import CLEAR, HOTA, Identity  # type: ignore[import-not-found]

    with contextlib.redirect_stdout(io.StringIO()):
        hota, identity, clear = (
            metric.combine_sequences({number: metric.eval_sequence(part) for number, part in enumerate(parts)})
            for metric in (HOTA(), Identity(), CLEAR())
        )
    return {
        "HOTA": float(np.mean(hota["HOTA"])),
        "IDF1": float(identity["IDF1"]),
        "MOTA": float(clear["MOTA"]),
        "switches": int(clear["IDSW"]),
        "recall": float(clear["CLR_Re"]),
        "precision": float(clear["CLR_Pr"]),
    }


def losses(parts: list[dict[str, Any]]) -> tuple[Counter[str], Counter[str]]:
    """Count the outcome of each true object in each frame, and of each tracked box, if each object has the track that fits it best."""
    from scipy.optimize import linear_sum_assignment  # type: ignore[import-untyped]

    missed, wrong = Counter[str](), Counter[str]()
    for part in parts:
        hits = np.zeros((part["num_gt_ids"], part["num_tracker_ids"]))
        frames = list(zip(part["gt_ids"], part["tracker_ids"], part["similarity_scores"], part["reasons"], strict=True))
        for true, tracks, table, _ in frames:
            one, other = np.nonzero(table >= HIT)
            np.add.at(hits, (true[one], tracks[other]), 1)
        rows, columns = linear_sum_assignment(-hits)
        own = {row: column for row, column in zip(rows.tolist(), columns.tolist(), strict=True) if hits[row, column]}
        owned = {column: row for row, column in own.items()}
        for true, tracks, table, reasons in frames:
            good = table >= HIT
            for row, name in enumerate(true.tolist()):
                its = tracks[good[row]].tolist()
                missed["tracked" if own.get(name) in its else "another track" if its else reasons[row]] += 1
            for column, name in enumerate(tracks.tolist()):
                its = true[good[:, column]].tolist()
                wrong["on its own object" if name in owned and owned[name] in its else "on another object" if its else "on no object"] += 1
    return missed, wrong


def main() -> None:
    """Write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--session", type=Path, help="of an earlier run of 'framefleet demo --headless'; else, the clip is detected first")
    parser.add_argument("--streets", type=Path, required=True, help="folder for fresh streets, which are rendered if they are missing")
    parser.add_argument("--added", type=streets.numbers, default=[120000, 130000, 140000], help="to the clip's seeds")
    options = parser.parse_args()
    rows, body = [], []
    with TemporaryDirectory() as folder:
        session = streets.session_of(options.streets, options.added)
        sets = {
            "demo's clip": options.session or detect(Path(folder)),
            f"fresh streets, seeds + {', '.join(map(str, options.added))}": session,
        }
        for name, stored in sets.items():
            copy = Path(folder) / "copy.sqlite"
            shutil.copy(stored, copy)
            track_session(copy)
            with SessionReader(copy) as reader:
                sources = reader.sources()
                truths = [DEMO.truth] if stored != session else [streets.truth_of(source.file) for source in sources]
                parts = [compared(reader, source, truth) for source, truth in zip(sources, truths, strict=True)]
            found = scores(parts)
            rows.append([name, *(f"{value:.3f}" if isinstance(value, float) else value for value in found.values())])
            for title, counts in zip(("true objects", "tracked boxes"), losses(parts), strict=True):
                total = sum(counts.values())
                shares = [[words, count, f"{count / total:.1%}"] for words, count in counts.most_common()]
                body.append(f"### {name}: {total:,} {title}\n\n{report.table([title, 'number', 'share'], shares)}")
    heads = ["detections", "HOTA", "IDF1", "MOTA", "switches", "recall", "precision"]
    text = "\n\n".join([report.table(heads, rows), f"## Causes of errors\n\n{CAUSES}", *body])
    report.write("tracks.accuracy", "Accuracy of tracks", text, ["numpy", "lapx", "trackeval"], "tracks")


if __name__ == "__main__":
    main()
