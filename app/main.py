"""The entry point: ``framefleet``. Every worker process imports this module again, so it imports nothing heavy at the top."""

import json
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path

from framefleet.app import terminal

COMMANDS = {
    "demo": "detect in an embedded clip with an embedded model, and measure the accuracy",
    "detect": "detect objects in videos, pictures and folders",
    "results": "write the stored results of an earlier run in other formats",
    "merge": "join the sessions of several runs into one",
    "track": "follow the objects of an earlier run from frame to frame",
    "correct": "confirm, relabel, delete, join and split stored detections and tracks",
    "clips": "cut the appearances of objects out of the videos of an earlier run",
    "evaluate": "compare stored detections with true objects",
    "bench": "measure models, the pool, its scaling, and devices",
    "tune": "find the fastest engine of each device for a model",
    "models": "list, download and remove models",
    "devices": "list the devices that can detect",
    "topology": "show how GPUs, NUMA nodes and processors are connected",
    "install-desktop": "add Framefleet to the desktop's menu",
    "doctor": "check this machine and say what is missing",
    "export": "write a model as ONNX",
}
INTERRUPTED = 130

REPORTING = ("demo", "detect")
"""Commands whose ``--json`` reports a run, also one that a signal ended. They report errors of the run themselves."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, or the window. Returns the exit status: 0 success, 1 something failed, 2 bad usage or unusable input."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments
    command = arguments[0] if arguments and arguments[0] in COMMANDS else None
    try:
        terminal.prepare()
        if argv is None and any("://" in argument for argument in arguments):
            _hide_passwords(arguments)
        if debug or "--verbose" in arguments:
            from framefleet.engine import logs

            logs.set_level("DEBUG" if debug else "INFO")
        status = _run(command, arguments[1:], ends=argv is None) if command else _open_window(arguments)
        sys.stdout.flush()
    except SystemExit as request:  # argparse: help, version, wrong usage
        if isinstance(request, terminal.WrongUsage):
            _report(command, arguments, "unusable", error=request.message)
        return request.code if isinstance(request.code, int) else 0
    except KeyboardInterrupt as interruption:
        print("framefleet: interrupted", file=sys.stderr)
        if command in REPORTING:
            _report(command, arguments, "interrupted")
        return getattr(interruption, "exit_status", INTERRUPTED)
    except BrokenPipeError:  # the reader of standard output has ended (| head)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        from framefleet.app.cli.crash import report

        report(error, arguments, debug)
        if command not in REPORTING:
            _report(command, arguments, "unusable", error=str(error))
        return 2
    return status


def _report(command: str | None, arguments: Sequence[str], outcome: str, **error: str) -> None:
    """Print the object of ``--json`` for a command that did not print it, because it ended early."""
    if command is not None and "--json" in arguments:
        figures: dict[str, object] = {"sources": [], "devices": []} if command in REPORTING else {}
        print(json.dumps({**figures, "exit": outcome, **error}), flush=True)


def _hide_passwords(arguments: Sequence[str]) -> None:
    """Overwrite users and passwords of addresses where other users of this machine can read them: in the list of processes."""
    import ctypes

    from framefleet.engine.media.live.address import hide

    try:
        fields = Path("/proc/self/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:  # not Linux
        return
    begin, end = int(fields[45]), int(fields[46])  # of the command line in memory: fields 48 and 49, see proc(5)
    words = ctypes.string_at(begin, end - begin)
    for argument in arguments:
        given, harmless = os.fsencode(argument), os.fsencode(hide(argument))
        place = words.find(b"\0" + given + b"\0")
        if given != harmless and place >= 0:
            ctypes.memmove(begin + place + 1, harmless[: len(given)].ljust(len(given), b"\0"), len(given))


def _run(command: str, arguments: Sequence[str], ends: bool) -> int:
    """Run a command so that a signal ends it in order: its child processes stop, and its temporary files are removed.

    ends: whether the program ends after it.
    """
    from framefleet.app.cli.interrupt import interruptible

    with interruptible(ends), ExitStack() as stack:
        early = ends and _is_run(command, arguments)
        if early:  # a worker's process loads its libraries and the model while this one loads its own and reads all arguments
            stack.enter_context(import_module("framefleet.engine.pool.prepared").prepared())
        import_module("framefleet.engine.settings.folders").apply()
        if early:
            import_module("framefleet.app.cli.options").prepare_early(arguments)
        status: int = import_module(f"framefleet.app.cli.{command.replace('-', '_')}").run(arguments)
        return status


def _is_run(command: str, arguments: Sequence[str]) -> bool:
    """Whether the command detects on this machine."""
    return command in REPORTING and {"-h", "--help", "--cluster"}.isdisjoint(argument.partition("=")[0] for argument in arguments)


def _open_window(arguments: Sequence[str]) -> int:
    import_module("framefleet.engine.settings.folders").apply()
    return int(import_module("framefleet.app.cli.window").run(arguments))


if __name__ == "__main__":
    sys.exit(main())
