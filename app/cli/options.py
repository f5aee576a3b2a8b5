"""Parsers' common parts and the readers of values that several commands take."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from engine.errors import UsageError
from engine.model.files import find_weights
from engine.model.random_weights import is_random
from engine.model.registry.installed import model_named
from engine.settings import ModelFiles, Parallel, Precision, Tiles, check_depth
from engine.types import DeviceId

T = TypeVar("T")


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"framefleet {version('framefleet')}")
        parser.exit()


def make_parser(command: str, description: str, usage: str | None = None, epilog: str | None = None) -> argparse.ArgumentParser:
    """A parser for ``framefleet COMMAND`` with ``--version`` and ``--debug``."""
    parser = argparse.ArgumentParser(
        prog=f"framefleet {command}".strip(),
        usage=usage,
        description=description,
        epilog=epilog,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version")
    parser.add_argument("--debug", action="store_true", help="show where in the program an error arose")
    return parser


def add_model_options(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """``--model``, ``--weights``, ``--labels``."""
    group = parser.add_argument_group("model")
    group.add_argument("--model", type=Path, metavar="M.cfg|NAME", help="a Darknet cfg, or a model of 'framefleet models'")
    group.add_argument("--weights", metavar="M.weights", help="its weights (default: beside the cfg), or random:SEED")
    group.add_argument("--labels", type=Path, metavar="L.names", help="its labels (default: beside the cfg, or COCO's for 80 classes)")
    return group


def add_size_option(group: argparse._ArgumentGroup) -> None:
    """``--size``."""
    group.add_argument("--size", type=network_size, metavar="N|WxH", help="another network size than the cfg's: multiples of 32")


def add_engine_options(group: argparse._ArgumentGroup) -> None:
    """``--devices``, ``--batch``, ``--precision``."""
    group.add_argument("--devices", type=device_list, default=(), metavar="auto|LIST", help="cpu:0,cpu:1 … (see 'framefleet devices')")
    group.add_argument("--batch", type=batch_size, metavar="auto|N", help="pictures per inference")
    group.add_argument("--precision", choices=[*map(str, Precision)], default="auto", help="auto: the fastest whose detections match fp32")


def add_sharing_options(group: argparse._ArgumentGroup) -> None:
    """``--parallel``, and what goes with ``tiles``."""
    ways = ", ".join(Parallel)
    group.add_argument("--parallel", type=one_of([*Parallel]), default="auto", metavar="HOW", help=f"how devices share the work: {ways}")
    tiles = "with --parallel tiles: the grid (auto: a tile is about as large as the network's input)"
    group.add_argument("--tiles", type=grid, metavar="auto|CxR", help=tiles)
    group.add_argument("--tile-overlap", type=overlap, metavar="0..0.5", help="of neighbouring tiles, as a share of a tile's side (0.2)")
    full = "do the tiles only: objects larger than a tile are then put together from their parts"
    group.add_argument("--no-full-frame", action="store_true", help=full)


def sharing(arguments: argparse.Namespace) -> tuple[Parallel, Tiles]:
    """What ``add_sharing_options`` asked for.

    Raises:
        UsageError: something about tiles is given, and there are none; or the devices that are named do not suit it.
    """
    parallel = Parallel(arguments.parallel)
    if parallel is Parallel.DEPTH and arguments.devices:
        check_depth(arguments.devices)
    given = {"--tiles": arguments.tiles, "--tile-overlap": arguments.tile_overlap, "--no-full-frame": arguments.no_full_frame or None}
    unused = [name for name, value in given.items() if value is not None]
    if unused and parallel is not Parallel.TILES:
        raise UsageError(f"{unused[0]} is for --parallel tiles, not for {parallel}")
    columns, rows = arguments.tiles or (None, None)
    share = Tiles.overlap if arguments.tile_overlap is None else arguments.tile_overlap
    return parallel, Tiles(columns, rows, share, not arguments.no_full_frame)


def model_files(arguments: argparse.Namespace, size: tuple[int, int] | None = None) -> ModelFiles:
    """The model that ``add_model_options`` asked for.

    Raises:
        UsageError: no model is named, or no weights are found beside it.
    """
    cfg: Path | None = arguments.model
    if cfg is None:
        raise UsageError(
            "no model: give --model M.cfg (and --weights M.weights, unless they lie beside it under the same name);"
            " 'framefleet models' lists some to download, 'framefleet demo' shows one at work"
        )
    named = None if cfg.suffix or cfg.parent != Path() or cfg.is_file() else model_named(cfg.name)
    cfg = named.cfg if named else cfg
    weights: str | Path | None = arguments.weights
    if weights is None:
        weights = find_weights(cfg)
        if weights is None and cfg.exists():
            raise UsageError(f"no weights like {cfg.stem}.weights beside {cfg}: give --weights M.weights (or random:1, to try without)")
        weights = weights or cfg.with_suffix(".weights")  # the missing cfg is what will be complained about
    elif not is_random(weights):
        weights = Path(weights)
    return ModelFiles(cfg, weights, arguments.labels, size)


def items(text: str) -> list[str]:
    """The parts of a comma-separated value."""
    return [part.strip() for part in text.split(",") if part.strip()]


def checked(read: Callable[[str], T]) -> Callable[[str], T]:
    """Turn UsageError into argparse's own complaint, which names the option."""

    def convert(text: str) -> T:
        try:
            return read(text)
        except UsageError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


@checked
def some_items(text: str) -> list[str]:
    """The parts of a comma-separated value, at least one."""
    parts = items(text)
    if not parts:
        raise UsageError(f"'{text}' names nothing: give at least one, or leave the option out")
    return parts


@checked
def device_list(text: str) -> tuple[DeviceId, ...]:
    """``auto`` (empty: the best available) or devices, comma-separated."""
    if "+" in text:
        raise UsageError(f"'{text}': write the devices with commas, {text.replace('+', ',')}; --parallel says how they work together")
    if text == "auto":
        return ()
    if not items(text):
        raise UsageError(f"'{text}' names no device: write auto, or cpu:0, cuda:0 … ('framefleet devices' lists yours)")
    return tuple(dict.fromkeys(DeviceId.parse(part) for part in items(text)))


@checked
def batch_size(text: str) -> int | None:
    """``auto`` (None) or a number."""
    if text == "auto":
        return None
    if not text.isdecimal() or not 1 <= int(text) <= 1024:
        raise UsageError(f"'{text}' is neither auto nor a number from 1 to 1024")
    return int(text)


@checked
def numbers(text: str) -> list[int]:
    """Whole numbers above 0, comma-separated, at least one."""
    parts = items(text)
    if not parts or not all(part.isdecimal() and int(part) for part in parts):
        raise UsageError(f"'{text}' is no list of numbers: write 1,8")
    return [int(part) for part in dict.fromkeys(parts)]


def count(most: int) -> Callable[[str], int]:
    """A whole number from 1 to ``most``."""

    @checked
    def read(text: str) -> int:
        if not text.isdecimal() or not 1 <= int(text) <= most:
            raise UsageError(f"'{text}' is no number from 1 to {most}")
        return int(text)

    return read


@checked
def seconds(text: str) -> float:
    """A time above 0 and at most an hour."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value <= 3600.0:
        raise UsageError(f"'{text}' is no time in seconds")
    return value


@checked
def milliseconds(text: str) -> float:
    """A time above 0 and at most a minute."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value <= 60_000.0:
        raise UsageError(f"'{text}' is no time in milliseconds")
    return value


@checked
def network_size(text: str) -> tuple[int, int]:
    """``N`` or ``WIDTHxHEIGHT`` in pixels."""
    found = re.fullmatch(r"(\d+)(?:x(\d+))?", text.strip().lower())
    if found is None:
        raise UsageError(f"'{text}' is no size: write 416 or 608x352")
    return int(found[1]), int(found[2] or found[1])


@checked
def grid(text: str) -> tuple[int | None, int | None]:
    """``auto`` (None, None) or ``COLUMNSxROWS``."""
    if text == "auto":
        return None, None
    found = re.fullmatch(r"(\d+)x(\d+)", text.strip().lower())
    if found is None:
        raise UsageError(f"'{text}' is no grid: write auto, or columns and rows, as in 4x3")
    tiles = Tiles(int(found[1]), int(found[2]))
    return tiles.columns, tiles.rows


@checked
def overlap(text: str) -> float:
    """A share of a tile's side, 0 to 0.5."""
    try:
        return Tiles(overlap=float(text)).overlap
    except ValueError:
        raise UsageError(f"'{text}' is no number from 0 to 0.5") from None


@checked
def fraction(text: str) -> float:
    """A number above 0 and at most 1."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value <= 1.0:
        raise UsageError(f"'{text}' must be above 0 and at most 1")
    return value


def one_of(available: Sequence[str], later: Sequence[str] = ()) -> Callable[[str], str]:
    """A value of a fixed set; those that later versions bring are refused with what there is now."""

    @checked
    def read(text: str) -> str:
        if text in available:
            return text
        reason = "comes in a later version; available now" if text in later else "is unknown; choose from"
        raise UsageError(f"'{text}' {reason}: {', '.join(available)}")

    return read


def some_of(available: Sequence[str], later: Sequence[str] = ()) -> Callable[[str], list[str]]:
    """The same, for a comma-separated list of at least one."""
    one = one_of(available, later)

    def read(text: str) -> list[str]:
        return [one(part) for part in dict.fromkeys(items(text))] or [one(text)]

    return read
