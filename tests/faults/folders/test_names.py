"""File names that other programs stumble over, as sources, pictures, results and folders."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.exporters.pictures import PictureNames
from framefleet.engine.store.session import StoredSource
from framefleet.engine.store.sources import exact_name
from framefleet.engine.types import DeviceId, FrameRef, FrameResult, InferenceFailure
from tests.support.faults.missing import detect, strict_json
from tests.support.media import make_video
from tests.support.notices import words

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse most of these names")

FRAMES = 3
STEMS = (
    "x" * 251,
    "ü" * 125,
    "🎬" * 62,
    "\u00e9",
    "e\u0301",  # looks like the one before
    "\u202egpj",
    "日本 語",
    "gr\udce4n \udcff",
    r"literally \xE4",
    "a\nb",
    "a\r\tb\x1b[31m\x7f",
    'it\'s "quoted" `so`',
    "$(touch owned); rm -rf . &",
    " lead and trail ",
    "-rf",
    "--out",
    "%06d",
    "a*[0-9]?",
    "a|b<c>d:e",
    "file:x",
    "concat:a",
    "http:",
    "~",
    ".hidden",
    "...",
    "a.partial",
    "CON",
)


def _make(folder: Path, template: Path) -> list[Path]:
    """A file of each name."""
    folder.mkdir(exist_ok=True)
    made = [folder / f"{stem}{template.suffix}" for stem in STEMS]
    for path in made:
        shutil.copy(template, path)
    return made


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_video(tmp_path_factory.mktemp("media") / "a.mp4", FRAMES, (64, 48))


def test_sources_of_any_name(video: Path, tmp_path: Path) -> None:
    paths, out = _make(tmp_path / "in", video), tmp_path / "out"
    done = detect(*paths, "--format", "jsonl,coco", "--out", out, program=True)
    assert done.status == 0, done.err
    report = strict_json(done.out.splitlines()[-1])
    assert [exact_name(source["path"]) for source in report["sources"]] == [str(path) for path in paths]
    assert {source["frames"]["inferred"] for source in report["sources"]} == {FRAMES}
    found = set()
    for file in out.glob("*.jsonl"):
        lines = [strict_json(line) for line in file.read_text("utf-8").split("\n")[:-1]]
        assert [line["frame"] for line in lines] == list(range(FRAMES))
        (name,) = {line["source"] for line in lines}
        found.add(exact_name(name))
    assert found == {path.name for path in paths}
    cocos = [strict_json(file.read_text("utf-8")) for file in out.glob("*.coco.json")]
    assert len(cocos) == len(STEMS)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]
    assert not (Path.cwd() / "owned").exists()


def test_relative_names_that_look_like_options_and_addresses(video: Path, tmp_path: Path) -> None:
    _make(tmp_path, video)
    names = ("./-rf.mp4", "./--out.mp4", "file:x.mp4", "concat:a.mp4", "http:.mp4", "~.mp4", "%06d.mp4")
    done = detect("--out", "out", *names, cwd=tmp_path)
    assert done.status == 0, done.err
    assert {source["frames"]["inferred"] for source in done.report["sources"]} == {FRAMES}


def test_pictures_of_any_name(tmp_path: Path) -> None:
    picture = make_video(tmp_path / "a.png", frames=1, codec="png", pix_fmt="rgb24", container="image2")
    paths, out = _make(tmp_path / "in", picture), tmp_path / "out"
    done = detect(tmp_path / "in", "--out", out)
    assert done.status == 0, done.err
    lines = [strict_json(line) for line in (out / "in.jsonl").read_text("utf-8").split("\n")[:-1]]
    assert {exact_name(line["name"]) for line in lines} == {path.name for path in paths if not path.name.startswith(".")}  # hidden


ALIKE = ("a.mp4", "A.mp4", "a.MP4", "caf\u00e9.mp4", "cafe\u0301.mp4", "CAFE\u0301.mp4", "stra\u00dfe.mp4", "STRASSE.mp4", "A-2.mp4")


def test_names_that_some_file_systems_take_for_the_same(video: Path, tmp_path: Path) -> None:
    """Results must not meet when they are copied to a disk of Windows or macOS."""
    paths, out = [tmp_path / "in" / name for name in ALIKE], tmp_path / "out"
    (tmp_path / "in").mkdir()
    for path in paths:
        shutil.copy(video, path)
    done = detect(*paths, "--format", "jsonl,yolo", "--out", out)
    assert done.status == 0, done.err
    made = [path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()]
    alike = {unicodedata.normalize("NFC", name).casefold() for name in made}
    assert len(alike) == len(made)
    assert len([name for name in made if name.endswith(".jsonl")]) == len(ALIKE)


@pytest.fixture
def windows_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk that takes ``a`` and ``A`` for the same name: NTFS, as Windows mounts it."""
    if shutil.which("lowntfs-3g") is None or shutil.which("mkntfs") is None:
        pytest.skip("needs ntfs-3g")
    image, folder = tmp_path / "disk", tmp_path / "mounted"
    image.touch()
    os.truncate(image, 64 << 20)
    folder.mkdir()
    subprocess.run(["mkntfs", "-F", "-Q", "-q", image], check=True, capture_output=True)
    if subprocess.run(["lowntfs-3g", "-o", "ignore_case", image, folder], capture_output=True, check=False).returncode != 0:
        pytest.skip("needs the right to mount")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_results_of_names_alike_on_a_disk_that_takes_them_for_the_same(video: Path, windows_disk: Path, tmp_path: Path) -> None:
    sources = [tmp_path / str(number) / name for number, name in enumerate(ALIKE)]
    for source in sources:
        source.parent.mkdir()
        shutil.copy(video, source)
    out = windows_disk / "out"
    for _ in range(2):  # the second run finds the files of the first
        done = detect(*sources, "--format", "jsonl,yolo,video", "--restart", "--out", out)
        assert done.status == 0, done.err
        names = {strict_json(line)["source"] for file in out.glob("*.jsonl") for line in file.read_text("utf-8").splitlines()}
        assert len([*out.glob("*.jsonl")]) == len([*out.glob("*.annotated.mp4")]) == len(ALIKE)
        assert {Path(name).name for name in names} == set(ALIKE)
        for file in out.glob("*.jsonl"):
            assert [strict_json(line)["frame"] for line in file.read_text("utf-8").splitlines()] == list(range(FRAMES))


def test_a_source_on_such_a_disk_is_not_overwritten_by_its_results(video: Path, windows_disk: Path) -> None:
    source = windows_disk / "Clip.ANNOTATED.mp4"
    shutil.copy(video, source)
    shutil.copy(video, windows_disk / "clip.mp4")
    done = detect(source, windows_disk / "clip.mp4", "--format", "video,jsonl", "--out", windows_disk)
    assert done.status == 0, done.err
    assert source.read_bytes() == (windows_disk / "clip.mp4").read_bytes() == video.read_bytes()


def test_pictures_whose_names_some_file_systems_take_for_the_same() -> None:
    source = StoredSource(0, "in", Path("/in"), None, Ledger(), True, False, 1.0, None)
    namer = PictureNames(source)
    files = ("a.jpg", "A.jpg", "a.JPG", "a_JPG.png", "caf\u00e9.jpg", "cafe\u0301.jpg")
    names = [
        namer(FrameResult(FrameRef(0, index, index, file), DeviceId("cpu", "0"), 8, 8, InferenceFailure(words("failed"))))
        for index, file in enumerate(files)
    ]
    assert len({unicodedata.normalize("NFC", name).casefold() for name in names}) == len(files), names


SOME = [STEMS[number] for number in (7, 9, 11)]


@pytest.mark.parametrize("stem", [*SOME, *(pytest.param(stem, marks=pytest.mark.slow) for stem in STEMS if stem not in SOME)], ids=repr)
def test_folders_of_any_name_and_annotated_videos(stem: str, video: Path, tmp_path: Path) -> None:
    folder = tmp_path / os.fsencode(stem)[:250].decode("utf-8", "surrogateescape")
    folder.mkdir()
    source = folder / f"{stem}.mp4"
    shutil.copy(video, source)
    done = detect(source, "--format", "jsonl,video", "--out", folder / "out")
    assert done.status == 0, done.err
    made = [path.name for path in (folder / "out").iterdir()]
    for suffix in (".jsonl", ".annotated.mp4", "session.sqlite"):
        assert len([name for name in made if name.endswith(suffix)]) == 1, made
