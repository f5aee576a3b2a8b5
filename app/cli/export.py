"""``framefleet export``: writes a model as ONNX."""

from collections.abc import Sequence
from pathlib import Path

from framefleet.app.cli import options
from framefleet.app.terminal import print_line
from framefleet.engine.notices import ExportError, Notice, UsageError, literal
from framefleet.engine.processes.outcome import lack_of_resources
from framefleet.engine.store.destinations import Protected


def run(argv: Sequence[str]) -> int:
    """Write the file. Exit status 0. Raises FramefleetError if the model cannot be used, or the file cannot be written."""
    parser = options.make_parser(
        "export",
        "Write a Darknet model as ONNX, with batch normalisation folded in. 'framefleet detect --model FILE.onnx' reads it.",
        examples=("--model yolov4-tiny -o yolov4-tiny.onnx", "--model street.cfg --size 608x352 -o street.onnx"),
    )
    options.add_model_options(parser)
    parser.add_argument("-o", "--output", type=_output, required=True, metavar="FILE.onnx", help="the file to write")
    parser.add_argument("--overwrite", action="store_true", help="replace a file that Framefleet did not write")
    arguments = parser.parse_args(argv)
    files = options.model_files(arguments, arguments.size)
    if files.is_onnx:
        raise UsageError(literal(f"{files.cfg} is an ONNX file already: give the .cfg of a Darknet model"))

    from framefleet.engine.model.load import load_network
    from framefleet.engine.model.onnx_export import data_file, export_onnx, is_own_export

    parts = [files.cfg, files.cfg.with_suffix(".names"), files.labels, files.weights]
    protected = Protected(part for part in parts if isinstance(part, Path))
    for path in (arguments.output, data_file(arguments.output)):
        if why := protected.why_not(path):
            raise ExportError(literal(f"{path} is not written, because {why}: choose another name"))
        if path.exists() and not (arguments.overwrite or is_own_export(arguments.output)):
            raise UsageError(
                literal(f"{path} exists, and Framefleet did not write it: choose another name, or give --overwrite to replace it")
            )
    network = load_network(files)
    try:
        export_onnx(network, arguments.output)
    except ExportError as error:
        if (lack := lack_of_resources(error)) is not None:
            raise ExportError(Notice("store.cannot_write", path=arguments.output, value=lack)) from error
        raise
    print_line(f"{arguments.output}: {network.name}, {network.width}×{network.height}, {network.classes} classes")
    return 0


@options.checked
def _output(text: str) -> Path:
    """Read a path. An empty one, of a script's variable that is not set, has no name."""
    if not text:
        raise UsageError(literal("'' names no file"))
    return Path(text)
