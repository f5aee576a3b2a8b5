"""``framefleet demo``: detects in an embedded clip with an embedded model, on any machine, and measures the accuracy."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from framefleet.app.cli import options, runs, sessions, window
from framefleet.app.demo import CONFIDENCE, demo_accuracy, demo_labels, demo_settings
from framefleet.app.display import has_display
from framefleet.engine.evaluation.accuracy import Accuracy
from framefleet.engine.notices import Notice, Option
from framefleet.engine.run.run import DetectionRun
from framefleet.engine.settings import RunSettings
from framefleet.engine.store.export import Exported
from framefleet.engine.store.session import SessionReader
from framefleet.engine.types import AS_ASKED, EngineInfo
from framefleet.resources import DEMO

FOLDER = Path("framefleet-demo")


def run(argv: Sequence[str]) -> int:
    """Open the window if there is a display, else write a report. Returns the exit status, as ``detect`` does.

    Raises FramefleetError if a device cannot be used, or the folder for the results cannot be made.
    """
    parser = options.make_parser(
        "demo",
        "Detect in an embedded clip of rendered streets with an embedded model, and compare with the true objects of each frame.\n"
        "Needs no network, no GPU and no files. Opens the window if there is a display, else writes a report.",
        examples=("", "--headless --devices cpu:0"),
    )
    options.add_settings(parser.add_argument_group("how"), "devices", "batch", "precision")
    results = parser.add_argument_group("report")
    results.add_argument("--headless", action="store_true", help="write a report and an annotated video; open no window")
    results.add_argument("--out", type=Path, metavar="DIR", help=f"folder for the video and the detections ({FOLDER}); implies --headless")
    runs.add_run_options(results, "print one line of JSON with the figures at the end; implies --headless")
    arguments = parser.parse_args(argv)
    chosen = options.chosen_settings(arguments)
    settings = demo_settings(chosen)
    options.prepare_worker(settings.model, chosen)
    if arguments.headless or arguments.out or arguments.json or not has_display():
        return runs.reported(lambda run: _report(run, settings, arguments), arguments.json, arguments.quiet)
    return window.open_window([], demo=settings)


def _report(run: runs.Run, settings: RunSettings, arguments: argparse.Namespace) -> None:
    folder = arguments.out or FOLDER
    run.figures["accuracy"] = None
    asked = "precision" in options.chosen_settings(arguments)
    choice = AS_ASKED if asked else Notice("backends.choice_of_demo", option=Option("precision", "auto"))
    session = run.detect(settings, folder / sessions.DATABASE, demo_labels(), {0: DEMO.clip}, restart=True, choice=choice)
    if run.outcome[0] not in ("ok", "failed"):
        return
    with SessionReader(session.database, CONFIDENCE) as reader:
        written = run.export(reader, folder, ["jsonl", "video"])
    accuracy = demo_accuracy(session.database, 0)
    run.figures["accuracy"] = accuracy.as_json()
    if not arguments.json:
        print("\n".join(_lines(session, run.engines, accuracy, written)))


def _lines(session: DetectionRun, engines: Sequence[EngineInfo], accuracy: Accuracy, written: Sequence[Exported]) -> list[str]:
    state = session.sources[0]
    objects = sum(row.objects for row in accuracy.classes)
    fact = "  {:18}{}".format
    lines = [f"Rendered streets, {state.ledger.decoded} frames, {objects:,} objects whose positions are known exactly:", ""]
    for engine in engines:
        lines += [
            fact("device", f"{engine.device}: {engine.device_name}"),
            fact("backend", f"{engine.backend}, {engine.width}×{engine.height}, batch {engine.batch}"),
            fact("precision", f"{engine.precision} ({engine.reason})"),
        ]
    if state.seconds:
        lines.append(fact("speed", f"{state.ledger.inferred / state.seconds:.1f} frames/s, decoding included"))
    lines += [fact("accuracy", f"mAP@0.5 {accuracy.map50:.1%}, mAP@0.5:0.95 {accuracy.map50_95:.1%}"), ""]
    lines.append(f"  {'class':12}{'AP@0.5':>8}{'AP@0.5:0.95':>14}{'objects':>10}")
    lines += [f"  {row.label:12}{row.ap50:>8.1%}{row.ap50_95:>14.1%}{row.objects:>10,}" for row in accuracy.classes]
    lines.append("")
    titles = {".jsonl": "detections", ".mp4": "annotated video"}
    return lines + [fact(titles[item.path.suffix], item.path) for item in reversed(written)]
