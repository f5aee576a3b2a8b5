"""Fuzzes what reads models, truth and zones, guided by coverage: needs atheris (``pip install atheris``), which is no dependency.

``python -m tools.fuzz cfg -max_total_time=60 -rss_limit_mb=1000 -timeout=30`` tries a minute. Other options are libFuzzer's. It ends with
an error, and keeps the input, if a file is neither read nor refused with a message, or takes too much memory or time.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

TINY = Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "tiny.cfg"


def readers() -> dict[str, tuple[str, Callable[[Path], object]]]:
    """For each kind of file a name, and what reads it, instrumented for atheris."""
    import atheris  # type: ignore[import-untyped]

    with atheris.instrument_imports(include=["engine"]):
        from framefleet.engine.evaluation.evaluate import read_truth
        from framefleet.engine.model.files import read_labels
        from framefleet.engine.model.load import check_model, load_network
        from framefleet.engine.settings import ModelFiles
        from framefleet.engine.zones.file import read_zones

    return {
        "cfg": ("a.cfg", lambda path: check_model(ModelFiles(path, "random:1"))),
        "weights": ("a.weights", lambda path: load_network(ModelFiles(TINY, path))),
        "onnx": ("a.onnx", lambda path: check_model(ModelFiles(path, path))),
        "names": ("a.names", lambda path: read_labels(path, 3)),
        "coco": ("a.json", read_truth),
        "cvat": ("a.xml", read_truth),
        "yolo": ("labels/a.txt", lambda path: read_truth(path.parent.parent)),
        "zones": ("zones.json", read_zones),
    }


def main() -> None:
    """Fuzz the reader that the command line names."""
    import atheris

    name, read = readers()[sys.argv.pop(1)]
    from framefleet.engine.notices import FramefleetError

    folder = Path(tempfile.mkdtemp())
    (folder / "data.yaml").write_text("names: [one, two]\ntrain: images\n")
    path = folder / name
    path.parent.mkdir(exist_ok=True)

    def attempt(content: bytes) -> None:
        path.write_bytes(content)
        with suppress(FramefleetError):
            read(path)

    atheris.Setup(sys.argv, attempt)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
