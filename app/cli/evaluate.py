"""``framefleet evaluate SESSION…``: compares stored detections with true objects, and sessions with each other."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from framefleet.app.cli import options
from framefleet.app.cli.exports import DATABASE, session_database
from framefleet.app.cli.options import make_parser
from framefleet.app.cli.reports.evaluation import as_json, markdown, summary, worst_json
from framefleet.app.streams import print_line
from framefleet.engine.errors import UsageError, literal
from framefleet.engine.evaluation.evaluate import Evaluation, evaluate, read_truth
from framefleet.engine.notices import Notice
from framefleet.engine.store.corrections import edits
from framefleet.engine.store.exporters.base import text_file
from framefleet.engine.store.schema import explained

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
        if edits(path)
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
    parser = make_parser(
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
        raise UsageError(literal(f"--names has {len(names)} names for {len(databases)} sessions"))
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
    with explained(folder, "make"):
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
