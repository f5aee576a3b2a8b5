"""``framefleet models``: lists, downloads and removes models."""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from framefleet.app.cli import options, runs
from framefleet.app.cli.table import Table
from framefleet.engine.model.registry import catalogue
from framefleet.engine.notices import FramefleetError, UsageError, literal

COLUMNS = "{:20} {:9} {:>11} {:>11} {:>9} {:>8}  {:11} {}"
TENTHS = 10
"""The number of progress lines of a download if standard error is not a terminal."""


def run(argv: Sequence[str]) -> int:
    """List, download or remove models. Exit status 0: done; 1: one of several models could not be downloaded or removed.

    Raises FramefleetError if a model is unknown, or the only named one could not be downloaded or removed.
    """
    parser = options.make_parser(
        "models",
        "List the models that can be downloaded, download them, or remove them.",
        usage="framefleet models [--json]\n       framefleet models [download] NAME… [--json]\n       framefleet models remove NAME…",
        examples=("", "yolov4-tiny", "remove yolov4-tiny"),
        json="end standard output with one line, a JSON object",
        epilog=f"A downloaded model is used by its name: framefleet detect FILE --model {catalogue.FAMILY[0].name}\n"
        f"{catalogue.MIRROR} names an address that serves all files from one folder. Use it if GitHub cannot be reached.",
    )
    parser.add_argument("words", nargs="*", metavar="NAME", help="models to download, or to remove")
    parser.add_argument("--unverified", action="store_true", help="also download files that have no published SHA-256")
    arguments = parser.parse_args(argv)
    verb, *names = arguments.words if arguments.words[:1] in (["download"], ["remove"]) else ["download", *arguments.words]
    if arguments.words and not names:
        raise UsageError(literal(f"which model? 'framefleet models {verb} {catalogue.FAMILY[0].name}'; 'framefleet models' lists them"))
    entries = [catalogue.entry_named(name) for name in dict.fromkeys(names)]
    folder = catalogue.models_folder()
    problems = _each(entries, lambda entry: _remove(entry, folder) if verb == "remove" else _download(entry, folder, arguments.unverified))
    if arguments.json:
        listed = [_as_json(entry, folder) for entry in entries or catalogue.FAMILY]
        error = {"error": "\n".join(problems)} if problems else {}
        print(json.dumps({"folder": str(folder), "models": listed, **error}))
    elif not entries:
        _list(folder)
    return 1 if problems else 0


def _each(entries: Sequence[catalogue.ModelEntry], act: Callable[[catalogue.ModelEntry], None]) -> list[str]:
    """Call ``act`` with each model, and print why it failed. Returns why models failed, for each that did.

    Raises FramefleetError if the only model failed.
    """
    problems = []
    for entry in entries:
        try:
            act(entry)
        except FramefleetError as error:
            if len(entries) == 1:
                raise
            problems.append(str(error))
            print(f"framefleet: {error}", file=sys.stderr)
    return problems


def _list(folder: Path) -> None:
    table = Table(COLUMNS, ("name", "good for", "network", "parameters", "download", "COCO AP", "state", ""))
    for entry in catalogue.FAMILY:
        size, parameters = f"{entry.side}×{entry.side}", f"{entry.parameters / 1e6:.1f} M"
        figures = size, parameters, f"{entry.download_bytes / 1e6:.0f} MB", f"{entry.ap:.1f} %"
        print(table.row(entry.name, entry.purpose, *figures, _state(entry, folder), _place(entry, folder) or ""))
    print(f"\n'framefleet models NAME' downloads one into {folder}; 'framefleet detect FILE --model NAME' uses it.")


def _state(entry: catalogue.ModelEntry, folder: Path) -> str:
    if catalogue.is_installed(entry, folder):
        return "installed"
    there = catalogue.partial_bytes(entry, folder)
    return f"{100 * there // entry.weights_bytes} % downloaded" if there else "–"


def _place(entry: catalogue.ModelEntry, folder: Path) -> str | None:
    return str(catalogue.files_of(entry, folder).cfg.parent) if catalogue.is_installed(entry, folder) else None


def _as_json(entry: catalogue.ModelEntry, folder: Path) -> dict[str, object]:
    return {
        "name": entry.name,
        "good_for": entry.purpose.value,
        "size": [entry.side, entry.side],
        "parameters": entry.parameters,
        "gflops": entry.gflops,
        "coco_ap": entry.ap,
        "coco_ap50": entry.ap50,
        "weights_bytes": entry.weights_bytes,
        "cfg": entry.cfg.source,
        "weights": entry.weights.source,
        "installed": catalogue.is_installed(entry, folder),
        "path": _place(entry, folder),
    }


def _remove(entry: catalogue.ModelEntry, folder: Path) -> None:
    removed = catalogue.remove_model(entry, folder)
    print(f"{entry.name} is removed" if removed else f"{entry.name} is not installed", file=sys.stderr)


def _download(entry: catalogue.ModelEntry, folder: Path, unverified: bool) -> None:
    from framefleet.engine.model.registry.download import download

    if catalogue.is_installed(entry, folder):
        print(f"{entry.name} is installed already: {_place(entry, folder)}", file=sys.stderr)
        return
    terminal = sys.stderr.isatty()
    bar = runs.progress_bar(total=entry.weights_bytes, desc=entry.name, unit="B", unit_scale=True, disable=not terminal)
    shown = -1

    def progress(done: int) -> None:
        nonlocal shown
        bar.update(done - bar.n)
        tenth = TENTHS * done // entry.weights_bytes
        if not terminal and tenth != shown:
            shown = tenth
            print(f"{entry.name}: {done / 1e6:,.1f} of {entry.weights_bytes / 1e6:,.1f} MB", file=sys.stderr, flush=True)

    with bar:
        files = download(entry, folder, progress, accept_unverified=unverified)
    print(f"{entry.name} is installed: {files.cfg.parent}", file=sys.stderr)
