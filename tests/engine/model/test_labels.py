from __future__ import annotations

from pathlib import Path

import pytest

from framefleet.engine.model.files import coco_labels, find_labels, read_labels
from framefleet.engine.notices import ModelError, Notice


@pytest.fixture
def cfg(tmp_path: Path) -> Path:
    path = tmp_path / "mine.cfg"
    path.write_text("[net]")
    return path


@pytest.mark.parametrize("text", ["cat\ndog", "cat\ndog\n", "\ufeffcat\r\ndog\r\n\r\n", "  cat \n\tdog\n\n"])
def test_white_space_and_line_ends_are_ignored(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.names"
    path.write_bytes(text.encode())
    assert read_labels(path, 2) == ("cat", "dog")


def test_names_in_any_language(tmp_path: Path) -> None:
    path = tmp_path / "a.names"
    names = ("traffic light", "пешеход", "信号灯", "می\u200cشود", "feu\N{NO-BREAK SPACE}rouge")
    path.write_text("\n".join(names), "utf-8")
    assert read_labels(path, 5) == names


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"cat\ndog\nbird\n", "has 3 labels, but the model has 2 classes"),
        (b"", "has 0 labels"),
        (b"cat\n\ndog\n", "line 2 is empty"),
        (b"caf\xe9\ndog\n", "not UTF-8 text at byte 3"),
        (b"a\0b\n", "not a list of labels"),
        (b"x\n" * 3_000_000, "not a list of labels"),
    ],
)
def test_files_that_do_not_fit(tmp_path: Path, content: bytes, complaint: str) -> None:
    path = tmp_path / "a.names"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=rf"a\.names.*{complaint}"):
        read_labels(path, 2)


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="does not exist"):
        read_labels(tmp_path / "a.names", 2)
    with pytest.raises(ModelError, match="is not a file"):
        read_labels(tmp_path, 2)


def test_where_labels_are_found(cfg: Path) -> None:
    folder = cfg.parent
    assert find_labels(cfg, 2)[0] == ("class 0", "class 1")
    (folder / "three.names").write_text("a\nb\nc\n")
    assert find_labels(cfg, 2)[0] == ("class 0", "class 1")
    (folder / "two.names").write_text("a\nb\n")
    assert find_labels(cfg, 2) == (("a", "b"), Notice("model.labels_of_file", path=folder / "two.names", number=2))
    (folder / "also.names").write_text("c\nd\n")
    with pytest.raises(ModelError, match=r"also\.names, two\.names.*--labels"):
        find_labels(cfg, 2)  # two fit: neither is certain
    (folder / "also.names").write_text("a\nb\n")
    assert find_labels(cfg, 2)[0] == ("a", "b")  # two files of the same labels
    (folder / "also.names").write_text("c\nd\n")
    (folder / "mine.names").write_text("e\nf\n")
    assert find_labels(cfg, 2)[0] == ("e", "f")
    assert find_labels(cfg, 2, folder / "also.names")[0] == ("c", "d")


def test_the_models_own_labels_must_fit(cfg: Path) -> None:
    cfg.with_suffix(".names").write_text("a\nb\n")
    with pytest.raises(ModelError, match=r"mine\.names has 2 labels, but the model has 80 classes"):
        find_labels(cfg, 80)


def test_coco_for_eighty_classes(cfg: Path) -> None:
    labels, source = find_labels(cfg, 80)
    assert (len(labels), len(set(labels))) == (80, 80)
    assert source == Notice("model.labels_of_coco", number=80, reason=Notice("model.no_labels_beside"))
    assert (labels[0], labels[2], labels[62], labels[79]) == ("person", "car", "tv", "toothbrush")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "unfit.names has 0 labels, but the model has 80 classes"),
        ("person\ncar\n".encode("utf-16"), "unfit.names is not a list of labels"),
        (b"person\n\ncar\n", "unfit.names, line 2 is empty"),
    ],
)
def test_a_file_of_labels_that_cannot_be_used_is_named(cfg: Path, content: bytes, reason: str) -> None:
    cfg.with_name("unfit.names").write_bytes(content)
    labels, source = find_labels(cfg, 80)
    assert labels == coco_labels()
    assert reason in str(source)
    assert reason in str(find_labels(cfg, 81)[1]).replace("81 classes: ", "80 classes: ")


def test_the_suffix_of_labels_may_be_in_capitals(cfg: Path) -> None:
    cfg.with_name("A.NAMES").write_bytes(b"a\nb\n")
    assert find_labels(cfg, 2)[0] == ("a", "b")


def test_our_names_of_coco_stand_in_the_order_of_darknets(data: Path, cfg: Path) -> None:
    theirs = read_labels(data / "models" / "coco.names", 80)
    renamed = {(a, b) for a, b in zip(theirs, find_labels(cfg, 80)[0], strict=True) if a.replace(" ", "") != b.replace(" ", "")}
    assert renamed == {("motorbike", "motorcycle"), ("aeroplane", "airplane"), ("sofa", "couch"), ("tvmonitor", "tv")}


@pytest.mark.parametrize("character", ["\x1b", "\x9b", "\x7f", "\u202e"])
def test_characters_that_a_terminal_obeys_are_refused(tmp_path: Path, character: str) -> None:
    path = tmp_path / "labels.names"
    path.write_text(f"person\ncar{character}[2J\n", "utf-8")
    with pytest.raises(ModelError, match=r"line 2 has a character that cannot be printed"):
        read_labels(path, 2)
