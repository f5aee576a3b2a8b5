"""The parsers of commands: options that several commands share, their values, and the source that a user names."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from framefleet.app.terminal import WrongUsage
from framefleet.engine.cuda import only_gpu
from framefleet.engine.media.sources import is_picture, is_video
from framefleet.engine.model.files import coco_file, find_weights, is_random, require_cfg
from framefleet.engine.notices import FramefleetError, UsageError, literal
from framefleet.engine.pool import prepared
from framefleet.engine.settings import Hint, ModelFiles
from framefleet.engine.settings.checks import require_possible
from framefleet.engine.settings.kinds import Choice, Number, Switch, items, one_of
from framefleet.engine.settings.table import DEFAULTS, TABLE, Option, Setting
from framefleet.engine.types import DeviceId

if TYPE_CHECKING:
    from framefleet.engine.store.session import StoredSource

T = TypeVar("T")
_GRID = "with --parallel tiles: columns and rows (auto: tiles of about the network's input size)"


def add_model_options(parser: argparse.ArgumentParser, size: bool = True) -> None:
    """Add ``--model``, ``--weights`` and ``--labels``. size: also ``--size``."""
    group = parser.add_argument_group("model")
    group.add_argument(
        "--model", type=Path, metavar="M.cfg|M.onnx|NAME", help="a Darknet cfg, an ONNX file, or a model of 'framefleet models'"
    )
    group.add_argument("--weights", metavar="M.weights", help="its weights (default: beside the cfg), or random:SEED")
    group.add_argument("--labels", type=Path, metavar="L.names", help="its labels (default: beside the cfg, or COCO's for 80 classes)")
    group.add_argument("--reading", metavar="NAME", help="how the outputs of an ONNX file are read, if it can be read in more than one way")
    if size:
        words = "input size of the network instead of the cfg's: multiples of 32"
        group.add_argument("--size", type=network_size, metavar="N|WxH", help=words)


def add_settings(group: argparse._ActionsContainer, *names: str, **defaults: object) -> None:
    """Add the options of these settings. The parsed arguments hold only options that were given, and those with a default here."""
    for name in names:
        setting = TABLE[name]
        if name == "columns":  # one option for columns and rows
            group.add_argument("--tiles", type=grid, metavar="auto|CxR", default=argparse.SUPPRESS, help=_GRID)
        elif setting.option is not None:
            _add(group, setting, setting.option, defaults.get(name, argparse.SUPPRESS))


def _add(group: argparse._ActionsContainer, setting: Setting, option: Option, default: object) -> None:
    kind, usual = setting.kind, setting.default if default is argparse.SUPPRESS else default
    words: dict[str, Any] = {"dest": setting.name, "default": default, "help": option.help or (setting.field and setting.field.note)}
    if isinstance(usual, str | float) and not isinstance(usual, bool) and usual != "auto":
        words["help"] += f" ({usual})"
    match kind:
        case Switch():
            group.add_argument(option.flag, action="store_false" if setting.default else "store_true", **words)
        case Choice() if option.metavar is None:
            group.add_argument(option.flag, choices=[*map(str, kind.members)], **words)
        case _:
            group.add_argument(option.flag, type=checked(kind.read), metavar=option.metavar, **words)


def chosen_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """The settings that ``add_settings`` read, by name.

    Raises UsageError if one of them has no effect with the others, or the named devices do not suit them.
    """
    chosen = {name: value for name, value in vars(arguments).items() if name in TABLE}
    for name, value in chosen.items():
        if isinstance(value, str):
            chosen[name] = TABLE[name].kind.read(value)
    if "tiles" in arguments:
        chosen["columns"], chosen["rows"] = arguments.tiles
    values = DEFAULTS | chosen
    for name in chosen:
        other, wanted = TABLE[name].only_with or (name, chosen[name])
        if values[other] != wanted:
            raise UsageError(literal(f"{_flag(name)} is for {_flag(other)} {wanted}, not for {values[other]}"))
    if values["devices"]:
        require_possible(values, values["devices"])
    return chosen


def _flag(name: str) -> str:
    option = TABLE[name].option
    return option.flag if option else "--tiles"


def model_files(arguments: argparse.Namespace, size: tuple[int, int] | None = None) -> ModelFiles:
    """The files of the model that the user named. size: width and height of the network's input, None = the cfg's.

    Raises UsageError if no model is named, or no weights are found beside it.
    """
    cfg: Path | None = arguments.model
    if cfg is None:
        raise UsageError(
            literal(
                "no model: give --model M.cfg (and --weights M.weights, unless they are beside it under the same name);"
                " 'framefleet models' lists some to download, 'framefleet demo' shows one at work"
            )
        )
    if not cfg.suffix and cfg.parent == Path() and not cfg.is_file():
        from framefleet.engine.model.registry.catalogue import find_entry, model_named

        if find_entry(cfg.name) is not None or not cfg.is_dir():
            cfg = model_named(cfg.name).cfg
    if cfg.suffix.lower() == ".onnx":
        return _onnx_files(arguments, cfg, size)
    if arguments.reading is not None:
        raise UsageError(literal(f"--reading is for ONNX files, not for {cfg}"))
    require_cfg(cfg)
    if not cfg.exists():
        raise UsageError(literal(f"{cfg} does not exist: check the name and the folder; 'framefleet models' lists models to download"))
    if is_video(cfg) or is_picture(cfg):
        what = "video" if is_video(cfg) else "picture"
        raise UsageError(literal(f"{cfg} is a {what}, not a model: give the .cfg or .onnx file of a model with --model"))
    weights: str | Path | None = arguments.weights
    if weights is None:
        weights = find_weights(cfg)
        if weights is None:
            from framefleet.engine.model.cfg import read_cfg

            read_cfg(cfg)  # another kind of file is called what it is
            raise UsageError(
                literal(f"no weights like {cfg.stem}.weights beside {cfg}: give --weights M.weights (or random:1, to try without)")
            )
    elif not is_random(weights):
        weights = Path(weights)
    return ModelFiles(cfg, weights, arguments.labels, size)


def _onnx_files(arguments: argparse.Namespace, path: Path, size: tuple[int, int] | None) -> ModelFiles:
    if arguments.weights is not None:
        raise UsageError(literal(f"--weights is for Darknet models: {path} has its own"))
    labels: Path | None = arguments.labels
    if labels == Path("coco") and not labels.exists():
        labels = coco_file()
    from framefleet.engine.model.onnx.recognise import describe_onnx, find_data, remember_reading

    files = ModelFiles(path, find_data(path), labels, size, arguments.reading)
    if files.reading is not None:
        remember_reading(path, describe_onnx(files).candidate.reading)
    return files


class _Quiet(argparse.ArgumentParser):
    """A parser whose errors are exceptions."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(literal(message))


def prepare_early(argv: Sequence[str]) -> None:
    """Let the waiting process prepare for a run by the arguments that say how, before this process reads all of them.

    Wrong arguments are left to the command, which says what is wrong.
    """
    parser = _Quiet(add_help=False, allow_abbrev=False)
    add_model_options(parser)
    live = "--follow" in argv or any("://" in word or word.startswith("camera:") for word in argv)
    add_settings(parser, "devices", "hint", **({"hint": Hint.LATENCY} if live else {}))
    with suppress(FramefleetError):
        arguments, _ = parser.parse_known_args(argv)
        if arguments.reading is None:  # else the command notes it
            prepare_worker(model_files(arguments, arguments.size), chosen_settings(arguments))


def prepare_worker(model: ModelFiles, chosen: dict[str, Any]) -> None:
    """Let the waiting process load a model, and open the GPU if the run uses exactly one. chosen: settings by name.

    Without a choice of devices, also begin to look for them.
    """
    prepared.preload(model)
    values = DEFAULTS | chosen
    devices: Sequence[DeviceId] = values["devices"]
    if not devices:
        from framefleet.engine.devices.discovery import search_early

        search_early()
    if values["hint"].spins:  # threads wait in another way, which is set when the device is opened
        return
    gpu = int(devices[0].name) if len(devices) == 1 and devices[0].kind == "cuda" else None if devices else only_gpu()
    if gpu is not None:
        prepared.open_early(gpu)


def checked(read: Callable[[str], T]) -> Callable[[str], T]:
    """Wrap ``read``: its UsageError becomes argparse's error, whose message names the option."""

    def convert(text: str) -> T:
        try:
            return read(text)
        except UsageError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


@checked
def numbers(text: str) -> list[int]:
    """Read a comma-separated list of whole numbers above 0, at least one."""
    parts = items(text)
    if not parts or not all(part.isdecimal() and int(part) for part in parts):
        raise UsageError(literal(f"'{text}' is not a list of numbers: write 1,8"))
    return [int(part) for part in dict.fromkeys(parts)]


def count(most: int) -> Callable[[str], float | None]:
    """A reader of whole numbers from 1 to ``most``."""
    return checked(Number(1, most, whole=True).read)


seconds = checked(Number(0, 3600, above=True, unit="seconds").read)
fraction = checked(TABLE["confidence"].kind.read)
device_list = checked(TABLE["devices"].kind.read)
some_names = checked(TABLE["classes"].kind.read)


@checked
def network_size(text: str) -> tuple[int, int]:
    """Read a size in pixels, ``N`` or ``WIDTHxHEIGHT``. Returns width and height."""
    found = re.fullmatch(r"(\d+)(?:x(\d+))?", text.strip().lower())
    if found is None:
        raise UsageError(literal(f"'{text}' is not a size: write 416 or 608x352"))
    return int(found[1]), int(found[2] or found[1])


@checked
def grid(text: str) -> tuple[Any, Any]:
    """Read ``COLUMNSxROWS``, or ``auto``, which returns (None, None)."""
    if text == "auto":
        return None, None
    found = re.fullmatch(r"(\d+)x(\d+)", text.strip().lower())
    if found is None:
        raise UsageError(literal(f"'{text}' is not a grid: write auto, or columns and rows, as in 4x3"))
    columns, rows = (TABLE[name].kind.read(part) for name, part in zip(("columns", "rows"), found.groups(), strict=True))
    return columns, rows


def some_of(available: Sequence[str]) -> Callable[[str], list[str]]:
    """A reader of comma-separated lists of at least one value of a fixed set."""

    @checked
    def read(text: str) -> list[str]:
        return [one_of(part, available) for part in dict.fromkeys(items(text)) or [text]]

    return read


_PROGRAM = "program"
_SIMILAR = 0.7
"""Least similarity of two names, 0..1, at which one may be a mistyped form of the other."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are short, and whose help ends with the options of every command."""

    def format_help(self) -> str:
        """The help, with the group ``program`` at its end."""
        self._action_groups.sort(key=lambda group: group.title == _PROGRAM)
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """Print an error and a hint, instead of the usage with all options. Ends the program with status 2."""
        unknown, _, options = message.partition("unrecognized arguments: ")
        if not unknown:
            message += self._hint(options.split()[0].partition("=")[0])
        print(f"{self.prog}: {message}\n{self._entry(message)}'{self.prog} --help' explains its options", file=sys.stderr)
        raise WrongUsage(message)

    def _entry(self, message: str) -> str:
        """The lines of the help about an option without its value, because they say which values are possible. "" for other errors."""
        name, _, problem = message.removeprefix("argument ").partition(": ")
        option = self._option_string_actions.get(name.partition("/")[0])  # -o/--output
        if option is None or not problem.startswith("expected "):
            return ""
        formatter = self._get_formatter()
        formatter.start_section(None)  # indents the lines
        formatter.add_argument(option)
        formatter.end_section()
        return formatter.format_help()

    def _hint(self, wrong: str) -> str:
        """Name the option that the user probably meant: a longer or shorter form of the unknown one, or one with a similar name."""
        name = wrong.strip("-")
        names = [option[2:] for option in self._option_string_actions if option.startswith("--")]
        close = [each for each in names if each.startswith(name) or name.startswith(each)]
        close = close or difflib.get_close_matches(name, names, 1, _SIMILAR)
        return f"; did you mean --{close[0]}?" if close and name else ""


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"framefleet {version('framefleet')}")
        parser.exit()


def make_parser(
    command: str,
    description: str,
    arguments: str = "",
    examples: Sequence[str] = (),
    epilog: str = "",
    usage: str | None = None,
    json: str | None = None,
) -> argparse.ArgumentParser:
    """A parser for ``framefleet COMMAND``; ``main`` sets the log level.

    arguments: the positional ones, for the usage. examples: what stands after ``framefleet COMMAND``, one a line. epilog: text after
    the examples. json: help for ``--json``, None = the command does not have it.
    """
    name = f"framefleet {command}".strip()
    shown = "\n".join(f"  {name} {example}".rstrip() for example in examples)
    parser = Parser(
        prog=name,
        usage=usage or " ".join(filter(None, (name, arguments, "[OPTIONS]"))),
        description=description,
        epilog="\n\n".join(filter(None, (shown and f"examples:\n{shown}", epilog))),
        allow_abbrev=False,
        add_help=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    program = parser.add_argument_group(_PROGRAM)
    if json is not None:
        program.add_argument("--json", action="store_true", help=json)
    program.add_argument("-h", "--help", action="help", help="show this help")
    program.add_argument("--version", action=_Version, nargs=0, help="show the version")
    program.add_argument("--verbose", action="store_true", help="log what the program and its worker processes do, on standard error")
    program.add_argument("--debug", action="store_true", help="log more, and show where in the program an error arose")
    return parser


def named_source(sources: Sequence[StoredSource], name: str | None) -> StoredSource:
    """Return the source with this name, path or file name. name: None = the session's only source.

    Raises UsageError if there is none or more than one.
    """
    found = [source for source in sources if name is None or name in (source.name, source.path, str(source.file), Path(source.path).name)]
    names = ", ".join(source.name for source in sources[:8]) + (", …" if len(sources) > 8 else "")
    if len(found) == 1:
        return found[0]
    if name is None:
        raise UsageError(
            literal(f"the session has {len(sources)} sources: give --source and one of {names}" if sources else "the session has no source")
        )
    raise UsageError(literal(f"{'several sources are' if found else 'no source is'} named '{name}': the session has {names}"))
