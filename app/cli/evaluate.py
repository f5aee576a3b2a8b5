"""``framefleet evaluate SESSION…``: compares stored detections with true objects, and sessions with each other.

An evaluation is written as JSON and Markdown; the command prints a summary.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from framefleet.app.cli import options
from framefleet.app.cli.sessions import DATABASE, number_of, session_database
from framefleet.app.cli.table import aligned, markdown_table, markdown_text
from framefleet.app.terminal import print_line
from framefleet.engine.evaluation.accuracy import CONFIDENCES, Curve
from framefleet.engine.evaluation.evaluate import SHARE, Evaluation, FrameErrors, Interval, Result, evaluate, read_truth
from framefleet.engine.notices import Notice, UsageError, literal
from framefleet.engine.store import corrections, schema
from framefleet.engine.store.exporters.base import text_file

_REPORT, _DATA, _WORST = "evaluation.md", "evaluation.json", "worst-frames.json"


def run(argv: Sequence[str]) -> int:
    """Print the results, and write the report. Returns 0.

    Raises FramefleetError if a session or the truth cannot be read, the truth does not fit, or the report cannot be written.
    """
    arguments = _parser().parse_args(argv)
    sessions = _named([session_database(path) for path in arguments.session], arguments.names)
    truth = read_truth(arguments.truth)
    renamed = dict(arguments.map)

    def say(step: Notice) -> None:
        if not arguments.quiet:
            print_line(f"framefleet: {step} …", sys.stderr)

    settings = {"confidence": arguments.confidence, "renamed": renamed, "common": arguments.common, "worst": arguments.worst}
    evaluation = evaluate(sessions, truth, **settings, classes=arguments.classes, progress=say)
    remarks = [
        f"{name} was corrected by hand. The model's own detections are measured, not the corrected ones."
        for name, path in sessions.items()
        if corrections.edits(path)
    ]
    written = _write(evaluation, remarks, arguments.out, arguments.truth, sessions) if arguments.out else []
    if arguments.json:
        for remark in remarks:
            print_line(f"framefleet: {remark}", sys.stderr)
        print(json.dumps({**as_json(evaluation, curves=False), "written": [str(path) for path in written], "exit": "ok"}))
    else:
        print(summary(evaluation, remarks))
        if written:
            print()
        for path in written:
            print_line(f"written: {path}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = options.make_parser(
        "evaluate",
        "Compare the stored detections of earlier runs with true objects: average precision as COCO defines it, precision and recall,\n"
        "confusions, results of each file, the worst frames. Several sessions are compared on the same pictures.",
        arguments="SESSION… --truth PATH",
        examples=("detections --truth truth.json --out evaluation", "old new --names old,new --truth labels"),
        json="print one JSON object instead of a table",
    )
    parser.add_argument("session", type=Path, nargs="+", metavar="SESSION", help=f"a session database, or the folder that holds {DATABASE}")
    forms = "true objects: a COCO file (.json, .json.gz), a CVAT file (.xml), or a folder with labels of YOLO"
    parser.add_argument("--truth", type=Path, required=True, metavar="PATH", help=forms)
    parser.add_argument("--names", type=options.some_names, metavar="LIST", help="names of the sessions in the results: old,new …")
    words = "labels of the truth as the model's: car=vehicle …"
    parser.add_argument("--map", type=options.checked(_pairs), default=[], metavar="LIST", help=words)
    words = "labels of the truth to compare: person,car … (all that the truth and the sessions looked for)"
    parser.add_argument("--classes", type=options.some_names, metavar="LIST", help=words)
    parser.add_argument("--common", action="store_true", help="leave out pictures that a session does not have")
    words = "at which detections count, but for mAP (0.25)"
    parser.add_argument("--confidence", type=options.fraction, default=0.25, metavar="0..1", help=words)
    words = "frames in the list of the worst frames (100)"
    parser.add_argument("--worst", type=options.count(1_000_000), default=100, metavar="N", help=words)
    parser.add_argument("--out", type=Path, metavar="DIR", help=f"write {_REPORT}, {_DATA} and {_WORST} there")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    return parser


def _pairs(text: str) -> list[tuple[str, str]]:
    pairs = [tuple(part.strip() for part in item.split("=")) for item in text.split(",")]
    if not all(len(pair) == 2 and all(pair) for pair in pairs):
        raise UsageError(literal(f"'{text}' is not a list of labels such as car=vehicle,bike=bicycle"))
    return [(pair[0], pair[1]) for pair in pairs]


def _named(databases: list[Path], names: Sequence[str] | None) -> dict[str, Path]:
    """Give each session a name: the given one, or its folder's, or its whole path where folders have equal names."""
    if names is not None and len(names) != len(databases):
        raise UsageError(literal(f"--names has {number_of(len(names), 'name')} for {number_of(len(databases), 'session')}"))
    found = list(names or (path.absolute().parent.name if path.name == DATABASE else path.stem for path in databases))
    if len(set(found)) < len(found):
        if names is not None:
            raise UsageError(literal("--names: two sessions have the same name"))
        found = [str(path) for path in databases]
    if len(set(found)) < len(found):
        raise UsageError(literal("a session is given twice"))
    return dict(zip(found, databases, strict=True))


def _write(evaluation: Evaluation, remarks: Sequence[str], folder: Path, truth: Path, sessions: Mapping[str, Path]) -> list[Path]:
    files = {
        _REPORT: markdown(evaluation, remarks),
        _DATA: json.dumps(as_json(evaluation), indent=1) + "\n",
        _WORST: json.dumps(worst_json(evaluation, sessions), indent=1) + "\n",
    }
    with schema.explained(folder, "make"):
        folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / name for name in files]
    for path in paths:
        if path.exists() and (not path.is_file() or any(path.samefile(other) for other in (truth, *sessions.values()))):
            raise UsageError(
                literal(f"{path} would be overwritten, but it is an input or no ordinary file: choose another folder with --out")
            )
    for path, content in zip(paths, files.values(), strict=True):
        with text_file(path) as file:
            file.write(content)
    return paths


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
    ``picture`` is the name of a picture in a folder.

    databases: of the sessions, by their names.
    """

    def frame(each: FrameErrors) -> dict[str, Any]:
        times = {"frame": each.frame, "time": round(each.time, 6)}
        which = {"source": each.path, "file": str(each.file), **({} if each.picture is None else {"picture": each.picture})}
        return {**which, **times, "objects": each.objects, "missed": each.missed, "wrong": each.wrong}

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
        drawn = "blocks of consecutive pictures are drawn at random, with repetition"
        notes.append(f"In brackets: {SHARE:.0%} intervals, estimated by bootstrap: {drawn}.")
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
    rows = [head]
    for each in result.worst[:_MAX_ROWS]:
        path, time = (each.path, f"{each.time:.2f}") if each.picture is None else (f"{each.path.rstrip('/')}/{each.picture}", "")
        rows.append([path, str(each.frame), time, *map(str, (each.objects, each.missed, each.wrong))])
    return rows


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
