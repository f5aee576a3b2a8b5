"""An evaluation as JSON, as Markdown, and as the summary that the command prints."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from framefleet.app.cli.reports.table import aligned, markdown_table
from framefleet.engine.evaluation.bootstrap import SHARE, Interval
from framefleet.engine.evaluation.errors import FrameErrors
from framefleet.engine.evaluation.evaluate import Evaluation, Result, at_confidence
from framefleet.engine.evaluation.precision import CONFIDENCES, Curve

_MOST_ROWS = 40
_LOW = 0.01
"""Sessions that hold only detections above this confidence have a lower average precision than their model."""


def as_json(evaluation: Evaluation, *, curves: bool = True) -> dict[str, Any]:
    """All results; fractions are 0..1. curves: with precision and recall for each of 101 confidences."""
    return {
        "truth": str(evaluation.truth),
        "labels": list(evaluation.labels),
        "pictures": evaluation.pictures,
        "left_out": evaluation.left_out,
        "objects": evaluation.objects,
        "confidence": evaluation.confidence,
        "sessions": [_session(evaluation, result, curves) for result in evaluation.results],
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


def markdown(evaluation: Evaluation, charts: Sequence[str], remarks: Sequence[str]) -> str:
    """A report. charts: names of the picture files. remarks: sentences about the sessions."""
    parts = ["# Evaluation", "", _about(evaluation), "", markdown_table(_overview(evaluation))]
    parts += [line for note in (*remarks, *_notes(evaluation)) for line in ("", note)]
    parts += ["", *(f"![{name}]({name})" for name in charts)]
    for result in evaluation.results:
        parts += ["", f"## {result.name}", "", markdown_table(_classes(result, evaluation.confidence))]
        parts += ["", "Files:", "", markdown_table(_files(result)), *_more(len(result.files))]
        parts += ["", "Worst frames:", "", markdown_table(_worst(result)), *_more(len(result.worst))]
    return "\n".join(parts) + "\n"


def _about(evaluation: Evaluation) -> str:
    text = f"{evaluation.objects:,} objects in {evaluation.pictures:,} pictures of {evaluation.truth}."
    if evaluation.left_out:
        text += f" {evaluation.left_out:,} pictures are left out, because not all sessions have them."
    return text


def _notes(evaluation: Evaluation) -> list[str]:
    notes = []
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
            text = f"{getattr(result, value):.1%}" + _between(getattr(result, spread))
            if result is not first:
                change = getattr(result, value) - getattr(first, value)
                text += f"; difference {change * 100:+.1f}" + _between(getattr(result, difference), signed=True)
            row.append(text)
        rows.append(row)
    for number, title in enumerate(("precision", "recall", "F1")):
        values = [f"{at_confidence(result.curve, confidence)[number]:.1%}" for result in evaluation.results]
        rows.append([f"{title} at confidence {confidence:g}", *values])
    best = [(result.curve.best, result.curve.f1[result.curve.best]) for result in evaluation.results]
    return [*rows, ["best F1", *(f"{value:.1%} at confidence {CONFIDENCES[place]:g}" for place, value in best)]]


def _between(interval: Interval | None, *, signed: bool = False) -> str:
    if interval is None:
        return ""
    form = "{:+.1f} to {:+.1f}" if signed else "{:.1f} to {:.1f}"
    return f" ({form.format(100 * interval.low, 100 * interval.high)})"


def _classes(result: Result, confidence: float) -> list[list[str]]:
    rows = [["class", "objects", "AP@0.5", "AP@0.5:0.95", "precision", "recall", "F1", "best F1 at"]]
    for each in result.classes:
        figures = [f"{value:.1%}" for value in (each.ap50, each.ap50_95, *at_confidence(each.curve, confidence))]
        rows.append([each.label, f"{each.objects:,}", *figures, f"{CONFIDENCES[each.curve.best]:g}"])
    return rows


def _files(result: Result) -> list[list[str]]:
    rows = [["file", "pictures", "objects", "mAP@0.5", "right", "wrong", "missed"]]
    for each in result.files[:_MOST_ROWS]:
        counts = [f"{count:,}" for count in (each.right, each.wrong, each.missed)]
        rows.append([each.path, f"{each.pictures:,}", f"{each.objects:,}", "–" if each.map50 is None else f"{each.map50:.1%}", *counts])
    return rows


def _worst(result: Result) -> list[list[str]]:
    head = ["file", "frame", "time, s", "objects", "missed", "wrong"]
    some = result.worst[:_MOST_ROWS]
    return [head, *([each.path, str(each.frame), f"{each.time:.2f}", *map(str, (each.objects, each.missed, each.wrong))] for each in some)]


def _more(count: int) -> list[str]:
    return ["", f"and {count - _MOST_ROWS:,} more in the JSON files."] if count > _MOST_ROWS else []


def _session(evaluation: Evaluation, result: Result, curves: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"name": result.name, "map50": result.map50, "map50_95": result.map50_95}
    for name in ("interval50", "interval50_95", "difference50", "difference50_95"):
        interval: Interval | None = getattr(result, name)
        found[name] = None if interval is None else {"share": SHARE, "low": interval.low, "high": interval.high}
    found |= _curve(result.curve, evaluation.confidence, curves)
    found["detections"], found["failed"], found["classes_not_counted"] = result.detections, result.failed, list(result.unused)
    found["classes"] = [
        {"label": each.label, "objects": each.objects, "ap50": each.ap50, "ap50_95": each.ap50_95}
        | _curve(each.curve, evaluation.confidence, curves)
        for each in result.classes
    ]
    found["confusion"] = result.confusion.tolist()
    found["files"] = [dict(vars(each)) for each in result.files]
    return found


def _curve(values: Curve, confidence: float, curves: bool) -> dict[str, Any]:
    found: dict[str, Any] = dict(zip(("precision", "recall", "f1"), at_confidence(values, confidence), strict=True))
    found["best"] = {"confidence": float(CONFIDENCES[values.best]), "f1": float(values.f1[values.best])}
    if curves:
        lists = {"precision": values.precision, "recall": values.recall, "f1": values.f1}
        found["curve"] = {"confidence": CONFIDENCES.tolist(), **{name: each.round(6).tolist() for name, each in lists.items()}}
    return found
