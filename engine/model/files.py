"""Finds a model's cfg and weight files by their names, and reads the start of files."""

from pathlib import Path

from framefleet.engine.errors import ModelError
from framefleet.engine.notices import Notice, Option

_TRAINED = ("", "_best", "_final", "_last")
"""What Darknet's training inserts between a cfg's stem and ``.weights``, in order of preference."""


def find_weights(cfg: Path) -> Path | None:
    """Find the weight file for a cfg in its folder: ``yolov4.weights`` for ``yolov4.cfg``, else a training result.

    Training results are ``yolov4_best.weights``, ``yolov4_final.weights`` and ``yolov4_last.weights``. None if there is no such file.
    """
    return _first([cfg.with_name(f"{cfg.stem}{suffix}.weights") for suffix in _TRAINED])


def find_cfg(weights: Path) -> Path | None:
    """Find the cfg for a weight file in its folder, by the same names. None if there is no such file."""
    return _first([weights.with_name(f"{weights.stem.removesuffix(suffix)}.cfg") for suffix in _TRAINED])


def _first(candidates: list[Path]) -> Path | None:
    return next((path for path in candidates if path.is_file()), None)


def read_start(path: Path, length: int) -> bytes:
    """Read the first ``length`` bytes of a file, or the whole file if it is shorter.

    Raises ModelError if the file is missing or unreadable.
    """
    try:
        if not path.is_file():
            raise ModelError(Notice("model.no_file" if path.exists() else "model.missing", path=path))
        with path.open("rb") as file:
            return file.read(length)
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        raise ModelError(Notice("model.unreadable", path=path, error=str(error))) from error


def require_cfg(path: Path) -> None:
    """Check that a path may name a cfg.

    Raises
    ------
    ModelError
        It is missing, a folder, or a file of another kind. The notice says what it is and what to do.
    """
    try:
        is_folder = path.is_dir()
    except (OSError, ValueError):  # a name too long, or with a null character: reading it says so
        return
    if is_folder:
        cfgs = tuple(sorted(each.name for each in path.glob("*.cfg")))
        raise ModelError(Notice("model.folder_of_cfgs", path=path, cfgs=cfgs) if cfgs else Notice("model.folder", path=path))
    match path.suffix.lower():
        case ".onnx":
            raise ModelError(Notice("model.onnx_file", path=path))
        case ".pt" | ".pth" | ".ckpt" | ".safetensors":
            raise ModelError(Notice("model.pytorch_file", path=path))
        case ".weights":
            cfg = find_cfg(path)
            if cfg is not None:
                raise ModelError(Notice("model.weights_file", path=path, option=Option("model", str(cfg))))
            raise ModelError(Notice("model.weights_without_cfg", path=path, option=Option("weights", str(path))))


def check_download(path: Path, start: bytes) -> None:
    """Refuse a file that is something else than a model, as failed downloads are. start: its first bytes.

    Raises
    ------
    ModelError
        It is a web page or a pointer of Git LFS.
    """
    if start.startswith(b"version https://git-lfs.github.com/spec"):
        raise ModelError(Notice("model.lfs_pointer", path=path))
    if start.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith((b"<!doctype html", b"<html", b"<head")):
        raise ModelError(Notice("model.web_page", path=path))
