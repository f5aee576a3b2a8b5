"""An evaluation as JSON, as Markdown, and as the summary that the command prints."""

from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from framefleet.app.cli.reports.table import aligned, markdown_table, markdown_text
from framefleet.engine.evaluation.accuracy import CONFIDENCES, Curve
from framefleet.engine.evaluation.evaluate import SHARE, Evaluation, FrameErrors, Interval, Result

_MAX_ROWS = 40
_MAX_CONFUSED = 15
"""Classes in a table of confusions: those with the most objects and errors."""

_CURVE_STEP = 5
"""The table of precision and recall has every fifth of the 101 confidences."""

_LOW = 0.01
"""Sessions that hold only detections above this confidence have a lower average precision than their model."""


def as_json(evaluation: Evaluation, *, curves: bool = True) -> dict[str, Any]:
    """All results; fractions are 0..1. curves: with precision and recall for each of 101 confidences."""
    return {
        "truth": str(evaluation.truth),
        "labels": list(evaluation.labels),
        "classes_counted": list(evaluation.labels if evaluation.counted is None else evaluation.counted),
        "remarks": [str(remark) for remark in evaluation.remarks],
        "pictures": evaluation.pictures,
        "left_out": evaluation.left_out,
        "objects": evaluation.objects,
        "confidence": evaluation.confidence,
        "sessions": [_session(result, curves) for result in evaluation.results],
    }


def worst_json(evaluation: Evaluation, databases: Mapping[str, Path]) -> dict[str, Any]:
    """The worst frames of each session, which the window opens. ``source`` is the file as the user named it, ``file`` its absolute path.

    databases: of the sessions, by their names.
    """

    def frame(each: FrameErrors) -> dict[str, Any]:
        times = {"frame": each.frame, "time": round(each.time, 6)}
        return {"source": each.path, "file": str(each.file), **times, "objects": each.objects, "missed": each.missed, "wrong": each.wrong}

    paths = {name: str(path.absolute()) for name, path in databases.items()}
    return {
        "confidence": evaluation.confidence,
        "databases": paths,
        "sessions": {each.name: [*map(frame, each.worst)] for each in evaluation.results},
    }


def summary(evaluation: Evaluation, remarks: Sequence[str]) -> str:
    """A few lines for the terminal: the results side by side, what limits them, and other remarks."""
    lines = [_about(evaluation), "", aligned(_overview(evaluation)), "", *remarks, *_notes(evaluation)]
    return "\n".join(lines)


def markdown(evaluation: Evaluation, remarks: Sequence[str]) -> str:
    """A report. remarks: sentences about the sessions."""
    parts = ["# Evaluation", "", markdown_text(_about(evaluation)), "", markdown_table(_overview(evaluation))]
    parts += [line for note in (*remarks, *_notes(evaluation)) for line in ("", markdown_text(note))]
    for result in evaluation.results:
        parts += ["", f"## {markdown_text(result.name)}", "", markdown_table(_classes(result))]
        parts += ["", "All classes over the confidence:", "", markdown_table(_over_confidence(result.curve))]
        rows = f"Rows are true classes, columns are detected ones, at confidence {evaluation.confidence:g} and an overlap of 0.5:"
        parts += ["", f"Confusions. {rows}", "", markdown_table(_confusions(result, evaluation.labels))]
        parts += ["", "Files:", "", markdown_table(_files(result)), *_more(len(result.files))]
        parts += ["", "Worst frames:", "", markdown_table(_worst(result)), *_more(len(result.worst))]
    return "\n".join(parts) + "\n"


def _about(evaluation: Evaluation) -> str:
    text = f"{evaluation.objects:,} objects in {evaluation.pictures:,} pictures of {evaluation.truth}."
    if evaluation.left_out:
        text += f" {evaluation.left_out:,} pictures are left out, because not all sessions have them."
    if evaluation.counted is not None:
        some = ", ".join(evaluation.counted[:10]) + (" …" if len(evaluation.counted) > 10 else "")
        text += f" Only these classes are counted: {some}."
    return text


def _notes(evaluation: Evaluation) -> list[str]:
    notes = [str(remark) for remark in evaluation.remarks]
    for result in evaluation.results:
        if result.stored > _LOW:
            notes.append(
                f"{result.name} holds only detections of a confidence of {result.stored:g} and more: its mAP is lower than the model's. "
                "Detect with --confidence 0.005 to measure the model."
            )
        if result.failed:
            notes.append(f"{result.name}: {result.failed:,} frames failed. They count as frames without detections.")
        if result.unused:
            names = ", ".join(result.unused[:5]) + (" …" if len(result.unused) > 5 else "")
            notes.append(f"{result.name}: detections of classes that the truth does not know are not counted: {names}.")
    if evaluation.results[0].interval50 is None:
        notes.append("There are too few pictures to say how certain the results are.")
    else:
        notes.append(f"In brackets: {SHARE:.0%} intervals, estimated by bootstrap: pictures are drawn at random, with repetition.")
    return notes


def _overview(evaluation: Evaluation) -> list[list[str]]:
    """Rows of results, a column for each session. Behind a value: the interval of its difference to the first session."""
    confidence = evaluation.confidence
    first = evaluation.results[0]
    rows = [["", *(result.name for result in evaluation.results)]]
    for title, value, spread, difference in (
        ("mAP@0.5", "map50", "interval50", "difference50"),
        ("mAP@0.5:0.95", "map50_95", "interval50_95", "difference50_95"),
    ):
        row = [title]
        for result in evaluation.results:
            text = _share(getattr(result, value)) + _between(getattr(result, spread))
            if result is not first and not isnan(getattr(result, value)):
                change = getattr(result, value) - getattr(first, value)
                text += f"; difference {change * 100:+.1f}" + _between(getattr(result, difference), signed=True)
            row.append(text)
        rows.append(row)
    for number, title in enumerate(("precision", "recall", "F1")):
        values = [_share(result.curve.chosen[number]) for result in evaluation.results]
        rows.append([f"{title} at confidence {confidence:g}", *values])
    best = [(result.curve.best, result.curve.f1[result.curve.best]) for result in evaluation.results]
    return [*rows, ["best F1", *(_share(value) + (f" at confidence {CONFIDENCES[place]:g}" if value > 0 else "") for place, value in best)]]


def _share(value: float) -> str:
    """A share as the tables show it; a dash if it is undefined."""
    return "–" if isnan(value) else f"{value:.1%}"


def _between(interval: Interval | None, *, signed: bool = False) -> str:
    if interval is None:
        return ""
    form = "{:+.1f} to {:+.1f}" if signed else "{:.1f} to {:.1f}"
    return f" ({form.format(100 * interval.low, 100 * interval.high)})"


def _classes(result: Result) -> list[list[str]]:
    rows = [["class", "objects", "AP@0.5", "AP@0.5:0.95", "precision", "recall", "F1", "best F1 at"]]
    for each in result.classes:
        figures = map(_share, (each.ap50, each.ap50_95, *each.curve.chosen))
        rows.append([each.label, f"{each.objects:,}", *figures, f"{CONFIDENCES[each.curve.best]:g}"])
    return rows


def _over_confidence(curve: Curve) -> list[list[str]]:
    chosen = range(0, len(CONFIDENCES), _CURVE_STEP)
    rows = [
        [f"{CONFIDENCES[place]:g}", *(_share(values[place]) for values in (curve.precision, curve.recall, curve.f1))] for place in chosen
    ]
    return [["confidence", "precision", "recall", "F1"], *rows]


def _confusions(result: Result, labels: Sequence[str]) -> list[list[str]]:
    """True classes (rows) and detected ones (columns), with what was missed and what was detected where nothing is."""
    table = result.confusion
    totals = table.sum(axis=0) + table.sum(axis=1)
    some = sorted(int(number) for number in np.argsort(-totals[:-1], kind="stable")[:_MAX_CONFUSED] if totals[number])
    names = [*(labels[number] for number in some), "nothing"]
    cells = table[np.ix_([*some, len(labels)], [*some, len(labels)])].tolist()
    return [["", *names], *([name, *(f"{count:,}" if count else "" for count in row)] for name, row in zip(names, cells, strict=True))]


def _files(result: Result) -> list[list[str]]:
    rows = [["file", "pictures", "objects", "mAP@0.5", "right", "wrong", "missed"]]
    for each in result.files[:_MAX_ROWS]:
        counts = [f"{count:,}" for count in (each.right, each.wrong, each.missed)]
        rows.append([each.path, f"{each.pictures:,}", f"{each.objects:,}", "–" if each.map50 is None else f"{each.map50:.1%}", *counts])
    return rows


def _worst(result: Result) -> list[list[str]]:
    head = ["file", "frame", "time, s", "objects", "missed", "wrong"]
    some = result.worst[:_MAX_ROWS]
    return [head, *([each.path, str(each.frame), f"{each.time:.2f}", *map(str, (each.objects, each.missed, each.wrong))] for each in some)]


def _more(count: int) -> list[str]:
    return ["", f"and {count - _MAX_ROWS:,} more in the JSON files."] if count > _MAX_ROWS else []


def _session(result: Result, curves: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"name": result.name, "map50": _number(result.map50), "map50_95": _number(result.map50_95)}
    for name in ("interval50", "interval50_95", "difference50", "difference50_95"):
        interval: Interval | None = getattr(result, name)
        found[name] = None if interval is None else {"share": SHARE, "low": interval.low, "high": interval.high}
    found |= _curve(result.curve, curves)
    found["detections"], found["failed"], found["classes_not_counted"] = result.detections, result.failed, list(result.unused)
    found["classes"] = [
        {"label": each.label, "objects": each.objects, "ap50": each.ap50, "ap50_95": each.ap50_95} | _curve(each.curve, curves)
        for each in result.classes
    ]
    found["confusion"] = result.confusion.tolist()
    found["files"] = [dict(vars(each)) for each in result.files]
    return found


def _curve(values: Curve, curves: bool) -> dict[str, Any]:
    found: dict[str, Any] = {name: _number(value) for name, value in values.chosen._asdict().items()}
    found["best"] = {"confidence": float(CONFIDENCES[values.best]), "f1": _number(float(values.f1[values.best]))}
    if curves:
        lists = {"precision": values.precision, "recall": values.recall, "f1": values.f1}
        points = {name: [*map(_number, each.round(6).tolist())] for name, each in lists.items()}
        found["curve"] = {"confidence": CONFIDENCES.tolist(), **points}
    return found


def _number(value: float) -> float | None:
    """A number for JSON, which has no NaN: None if it is undefined."""
    return None if isnan(value) else value
