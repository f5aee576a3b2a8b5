from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from framefleet.engine.model.cfg import MAX_BYTES, Section, parse_cfg, read_cfg
from framefleet.engine.notices import ModelError

PATH = Path("some.cfg")


def parse(text: str) -> list[Section]:
    return list(parse_cfg(text, PATH))


def test_sections_know_their_layer_and_lines() -> None:
    net, first, second = parse("# a comment\n[net]\nwidth=32\n\n[conv]\nfilters=8\n[yolo]\nclasses=2\n")
    assert [(s.name, s.layer, s.line) for s in (net, first, second)] == [("net", None, 2), ("conv", 0, 5), ("yolo", 1, 7)]
    assert second.options == {"classes": ("2", 8)}


@pytest.mark.parametrize(
    "text",
    [
        "[net]\r\nanchors=1,2\r\n",
        "\t[ net ]\n  anchors = 1,\t2   # inline\n",
        "[net];x\nanchors=1,2;y\n",
        "[net]\nanchors=1,2\nanchors=3,4\n",  # the first counts, as in Darknet
        "[net]\nanchors=1,2",
    ],
)
def test_comments_and_white_space_are_ignored(text: str) -> None:
    (net,) = parse(text)
    assert net.name == "net"
    assert net.integers("anchors", low=1, high=2) == (1, 2)


def test_an_equals_sign_may_stand_in_a_value() -> None:
    assert parse("[net]\na=b=c\n")[0].text("a") == "b=c"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no sections"),
        ("# only a comment\n", "no sections"),
        ("width=3\n[net]", "line 1.*before the first section"),
        ("[net]\nperson\n", "line 2.*'person'.*neither"),
        ("[net\n", r"line 1.*'\[net'.*not a section"),
        ("[]\n", "line 1.*not a section"),
        ("[net]\n" + "x" * 500, "line 2: 'x{37}…'"),
    ],
)
def test_files_that_are_not_cfgs_are_rejected(text: str, complaint: str) -> None:
    with pytest.raises(ModelError, match=f"some.cfg.*{complaint}"):
        parse(text)


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ("", "filters= has no value"),
        ("many", "filters=many: 'many' is not a whole number"),
        ("1.5", "'1.5' is not a whole number"),
        ("9" * 5000, "'9{37}…' is not a whole number"),
        ("0", r"filters=0 is outside 1\.\.10"),
        ("11", r"filters=11 is outside 1\.\.10"),
        ("²", "'²' is not a whole number"),
    ],
)
def test_whole_numbers_are_checked(value: str, complaint: str) -> None:
    section = parse(f"[net]\n[conv]\n[conv]\n\nfilters={value}\n")[2]
    with pytest.raises(ModelError, match=rf"^some.cfg, line 5, \[conv\] \(layer 1\): .*{complaint}"):
        section.integer("filters", low=1, high=10)


def test_decimal_numbers_are_checked(subtests: pytest.Subtests) -> None:
    for value in ("", "nan", "inf", "1e999", "0", "-1", "11", "1,,2", ",", "0x1", "1_0"):
        with subtests.test(value):
            section = parse(f"[net]\nanchors={value}\n")[0]
            with pytest.raises(ModelError, match=r"^some.cfg, line 2, \[net\]: anchors="):
                section.numbers("anchors", above=0, high=10)


@pytest.mark.parametrize(("text", "value"), [("1", 1.0), (".5", 0.5), ("2.", 2.0), ("1e0", 1.0), ("+1.25", 1.25)])
def test_decimal_numbers_as_c_reads_them(text: str, value: float) -> None:
    assert parse(f"[net]\nscale={text}\n")[0].number("scale", 3.0, above=0, high=10) == value


def test_defaults_and_missing_options() -> None:
    net = parse("[net]\n")[0]
    assert (net.integer("a", 3, low=0, high=9), net.number("b", 0.5, above=0, high=1), net.flag("c")) == (3, 0.5, False)
    with pytest.raises(ModelError, match="width= is missing"):
        net.integer("width", low=1, high=2)


def test_comments_in_any_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a.cfg"
    path.write_bytes(b"\xef\xbb\xbf# caf\xc3\xa9\n[net]\n")
    assert read_cfg(path)[0].line == 2
    path.write_bytes("# 网络参数\n[net]\n".encode("gbk") + b"# \x85 \xa0\n[yolo]\n")
    assert [(section.name, section.line) for section in read_cfg(path)] == [("net", 2), ("yolo", 4)]


@pytest.mark.parametrize("content", [os.urandom(5000) + b"\0", b"\x7fELF", "[net]\n".encode("utf-16"), b"\x89PNG\r\n\x1a\n" * 9])
def test_binary_files(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.cfg"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=re.escape(f"{path} is a binary file")):
        read_cfg(path)


def test_a_file_too_large_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "large.cfg"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # sparse
    with pytest.raises(ModelError, match="larger than 1 MiB"):
        read_cfg(path)
    path.write_bytes(b"[net]\n" + b"#" * (MAX_BYTES - 6))
    assert len(read_cfg(path)) == 1


def test_missing_folders_and_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="does not exist"):
        read_cfg(tmp_path / "no.cfg")
    with pytest.raises(ModelError, match="is a folder: give the model's"):
        read_cfg(tmp_path)
    with pytest.raises(ModelError, match="is not a file"):
        read_cfg(Path(os.devnull))
    with pytest.raises(ModelError):
        read_cfg(Path("a\0b"))
    with pytest.raises(ModelError):
        read_cfg(tmp_path / ("x" * 5000))


def test_what_darknet_reads_is_read() -> None:
    """A comma behind the last number, and whole numbers with a decimal point."""
    section = parse("[net]\nanchors = 1,2.5, 3,4,\nmask=0,2,\nsize=3.0\nstride=2.\n")[0]
    assert section.numbers("anchors", above=0, high=10) == (1, 2.5, 3, 4)
    assert section.integers("mask", low=0, high=3) == (0, 2)
    assert (section.integer("size", low=1, high=9), section.integer("stride", low=1, high=9)) == (3, 2)


@pytest.mark.parametrize("end", ["\x1a", "\r\n\x1a\r\n", "\x1a\x1a"])
def test_ctrl_z_may_end_a_file(tmp_path: Path, end: str) -> None:
    path = tmp_path / "a.cfg"
    path.write_text(f"[net]\nwidth=32\n{end}", newline="")
    assert read_cfg(path)[0].text("width") == "32"


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.PT", b"", "model.pytorch_file"),
        ("a.torchscript", b"PK", "model.pytorch_file"),
        ("a.xml", b"<net/>", "model.other_format"),
        ("b.weights", b"", "model.weights_without_cfg"),
        ("a.weights", b"", "model.weights_file"),
        ("page.cfg", b"\n<!DOCTYPE html><title>yolo</title>", "model.web_page"),
        ("pointer.cfg", b"version https://git-lfs.github.com/spec/v1\noid sha256:12\n", "model.lfs_pointer"),
    ],
)
def test_another_file_is_called_what_it_is(tmp_path: Path, name: str, content: bytes, code: str) -> None:
    (tmp_path / "a.cfg").write_text("[net]\n")
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ModelError) as caught:
        read_cfg(path)
    assert caught.value.notice.code == code


def test_a_folder_names_the_cfgs_in_it(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="is a folder: give"):
        read_cfg(tmp_path)
    for name in ("b.cfg", "a.cfg"):
        (tmp_path / name).touch()
    with pytest.raises(ModelError, match=r"a\.cfg, b\.cfg"):
        read_cfg(tmp_path)
