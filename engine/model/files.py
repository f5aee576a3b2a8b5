"""Finds a model's cfg, weight and label files, and reads labels: text files with one class name per line."""

import re
from collections.abc import Sequence
from importlib.resources import files as resource_files
from pathlib import Path

from framefleet.engine.notices import ModelError, Notice, Option, UsageError, printable, similar

_TRAINED = ("", "_best", "_final", "_last")
"""What Darknet's training inserts between a cfg's stem and ``.weights``, in order of preference."""


RANDOM = "random:"
"""What random weights begin with, instead of the name of a file: see ``random_weights``."""


def is_random(weights: object) -> bool:
    """Whether ``weights`` specifies random weights instead of a file."""
    return str(weights).startswith(RANDOM)


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

    Raises
    ------
    ModelError
        The file is missing or unreadable.
    """
    try:
        if not path.is_file():
            raise ModelError(Notice("general.no_file" if path.exists() else "general.missing", path=path))
        with path.open("rb") as file:
            return file.read(length)
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        raise ModelError(Notice("general.unreadable", path=path, detail=str(error))) from error


_PYTORCH = frozenset({".pt", ".pth", ".ckpt", ".safetensors", ".torchscript"})
_OTHER_FORMATS = {
    ".engine": "TensorRT",
    ".plan": "TensorRT",
    ".trt": "TensorRT",
    ".xml": "OpenVINO",
    ".tflite": "TensorFlow Lite",
    ".pb": "TensorFlow",
    ".h5": "Keras",
    ".keras": "Keras",
    ".mlmodel": "Core ML",
    ".ncnn": "NCNN",
    ".rknn": "RKNN",
}
REFUSED_MODELS = (_PYTORCH | _OTHER_FORMATS.keys()) - {".xml"}
"""The suffixes of models that have to be exported as ONNX. Many other files end in .xml."""


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
        case kind if kind in _PYTORCH:
            raise ModelError(Notice("model.pytorch_file", path=path))
        case kind if kind in _OTHER_FORMATS:
            raise ModelError(Notice("model.other_format", path=path, form=_OTHER_FORMATS[kind]))
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
        It is a web page, a pointer of Git LFS, a server's message or an archive.
    """
    if start.startswith(b"version https://git-lfs.github.com/spec"):
        raise ModelError(Notice("model.lfs_pointer", path=path))
    text = start.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if text.startswith((b"<!doctype html", b"<html", b"<head")):
        raise ModelError(Notice("model.web_page", path=path))
    for begin, form in _MESSAGES.items():
        if text.startswith(begin) and path.suffix.lower() != f".{form.lower()}":  # else it is what its name says
            raise ModelError(Notice("model.message", path=path, form=form))
    for begin, form in _ARCHIVES.items():
        if start.startswith(begin):
            raise ModelError(Notice("model.archive", path=path, form=form))


_MESSAGES = {b"<?xml": "XML", b"<error": "XML", b'{"': "JSON", b"{\n": "JSON", b"{\r\n": "JSON"}
"""How the messages begin that servers send in place of a file."""

_ARCHIVES = {
    b"PK\x03\x04": "ZIP",
    b"\x1f\x8b": "gzip",
    b"\xfd7zXZ\0": "xz",
    b"BZh": "bzip2",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"(\xb5/\xfd": "Zstandard",
    b"Rar!\x1a\x07": "RAR",
}


MAX_BYTES = 1 << 22
MAX_NAMED = 8
"""Maximum number of labels that a message names."""


def find_labels(cfg: Path, classes: int, labels: Path | None = None) -> tuple[tuple[str, ...], Notice]:
    """Find the labels of a model.

    The labels come from ``labels``, else from the ``.names`` file with the cfg's stem, else from the only ``.names`` file in the cfg's
    folder with one line per class. Else they are COCO's for 80 classes, and "class 0", "class 1", … for any other number.

    Returns
    -------
    labels : tuple of str
        One label per class.
    source : Notice
        Their file and number, for the first lines of a run.

    Raises
    ------
    ModelError
        ``labels``, or the file with the cfg's stem, cannot be read or has a different number of labels; or the folder has several other
        files of different labels that fit.
    """
    own = cfg.with_suffix(".names")
    if labels is not None or own.is_file():
        return _with_source(read_labels(labels or own, classes), labels or own)
    fitting: dict[tuple[str, ...], Path] = {}
    reason = Notice("model.no_labels_beside")
    for path in sorted(path for path in cfg.parent.iterdir() if path.suffix.lower() == ".names"):
        try:
            fitting.setdefault(read_labels(path, classes), path)
        except ModelError as error:
            reason = error.notice
    if len(fitting) > 1:
        files = tuple(path.name for path in fitting.values())
        raise ModelError(Notice("model.several_labels", folder=cfg.parent, files=files, classes=classes, option=Option("labels")))
    if fitting:
        return _with_source(*next(iter(fitting.items())))
    if classes == 80:
        return coco_labels(), Notice("model.labels_of_coco", number=classes, reason=reason)
    source = Notice("model.labels_numbered", number=classes, reason=reason, option=Option("labels"))
    return tuple(f"class {number}" for number in range(classes)), source


def _with_source(labels: tuple[str, ...], path: Path) -> tuple[tuple[str, ...], Notice]:
    return labels, Notice("model.labels_of_file", path=path, number=len(labels))


def coco_file() -> Path:
    """The file with COCO's labels."""
    return Path(str(resource_files("framefleet.resources").joinpath("labels/coco.txt")))


def coco_labels() -> tuple[str, ...]:
    """COCO's 80 labels, by class id."""
    return tuple(coco_file().read_text("utf-8").splitlines())


def read_labels(path: Path, classes: int | None) -> tuple[str, ...]:
    """Read one label per class from a UTF-8 text file. classes: None = any number.

    Empty lines at its end are ignored.

    Raises
    ------
    ModelError
        The file is missing, unreadable or not text, or the number of labels differs from ``classes``.
    """
    content = read_start(path, MAX_BYTES + 1)
    check_download(path, content[:512])
    if len(content) > MAX_BYTES or b"\0" in content:
        raise ModelError(Notice("model.no_labels", path=path))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelError(Notice("general.not_utf8", path=path, byte=error.start)) from error
    names = tuple(line.strip() for line in text.rstrip().split("\n")) if text.strip() else ()
    if "" in names:
        raise ModelError(Notice("model.label_empty", path=path, line=names.index("") + 1))
    if number := next((number for number, name in enumerate(names, 1) if not is_label(name)), None):
        raise ModelError(Notice("model.label_not_printable", path=path, line=number))
    if not names or classes not in (None, len(names)):
        raise ModelError(Notice("model.wrong_labels", path=path, labels=len(names), classes=classes))
    return names


def is_label(text: str) -> bool:
    """Whether a text can be a label. Joiners and no-break spaces belong to words of several languages; control characters do not."""
    return bool(text) and _NO_TEXT.search(text) is None and printable(text) == text


_NO_TEXT = re.compile("[\t\ud800-\udfff]")
"""What ``printable`` leaves, but no label has: tabs, and the halves of characters that JSON can escape."""


def class_ids(names: Sequence[str] | None, labels: Sequence[str]) -> frozenset[int] | None:
    """Find the class ids of labels: all classes with one of these names.

    Parameters
    ----------
    names : sequence of str or None
        Labels, in upper or lower case, or ids as text. None: all classes, which returns None.
    labels : sequence of str
        The model's labels, by class id.

    Raises
    ------
    UsageError
        The model does not have a label or id; the notice names similar labels.
    """
    if names is None:
        return None
    by_label: dict[str, set[int]] = {}
    for number, label in enumerate(labels):
        by_label.setdefault(label.casefold(), set()).add(number)
    return frozenset().union(*(_ids_of(name, by_label, labels) for name in names))


def _ids_of(name: str, by_label: dict[str, set[int]], labels: Sequence[str]) -> set[int]:
    if name.casefold() in by_label:
        return by_label[name.casefold()]
    if name.isdecimal():
        if int(name) < len(labels):
            return {int(name)}
        raise UsageError(Notice("model.no_class_id", name=name, classes=len(labels), last=len(labels) - 1))
    if others := similar(name, labels, 3):
        raise UsageError(Notice("model.no_class_but_similar", name=name, count=len(others), similar=others))
    if len(labels) > MAX_NAMED:
        more = len(labels) - MAX_NAMED
        raise UsageError(Notice("model.no_class_of_many", name=name, labels=tuple(labels[:MAX_NAMED]), more=more))
    raise UsageError(Notice("model.no_class", name=name, labels=tuple(labels)))
