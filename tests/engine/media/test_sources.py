"""Which files and folders become sources."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from framefleet.engine.media.sources import DIGESTED, expand_sources, natural_key, pictures_in, stamp_of
from framefleet.engine.notices import SourceError


@pytest.mark.parametrize("size", [0, 10, DIGESTED, DIGESTED + 10, 3 * DIGESTED])
def test_a_file_is_known_by_its_size_time_and_ends(tmp_path: Path, size: int) -> None:
    path = tmp_path / "a.mp4"
    content = bytes(index % 251 for index in range(size))
    path.write_bytes(content)
    stamp = stamp_of(path)
    assert stamp is not None
    assert (stamp.size, stamp.modified) == (size, path.stat().st_mtime_ns)
    digests = {stamp.digest}
    for position in {0, size - 1} if size else ():
        changed = bytearray(content)
        changed[position] ^= 1
        path.write_bytes(changed)
        os.utime(path, ns=(stamp.modified, stamp.modified))
        other = stamp_of(path)
        assert other is not None
        assert other != stamp
        digests.add(other.digest)
    assert len(digests) == (1 + len({0, size - 1}) if size else 1)


def test_a_folder_is_known_by_its_pictures(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"abc")
    (tmp_path / "notes.txt").write_text("one")
    stamp = stamp_of(tmp_path)
    assert stamp is not None
    assert stamp.size == 3
    (tmp_path / "notes.txt").write_text("two")
    assert stamp_of(tmp_path) == stamp
    (tmp_path / "a.png").rename(tmp_path / "b.png")
    assert stamp_of(tmp_path) != stamp


def test_what_cannot_be_read_has_no_stamp(tmp_path: Path) -> None:
    assert stamp_of(tmp_path / "none.mp4") is None


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    return path


def test_files_stay_as_they_are_and_in_their_order(tmp_path: Path) -> None:
    files = [touch(tmp_path / "b.mp4"), touch(tmp_path / "a.unknown")]
    assert expand_sources(files) == files


def test_a_folder_becomes_its_videos_and_its_folders_of_pictures_in_natural_order(tmp_path: Path) -> None:
    for name in ("clip10.MP4", "clip2.mkv", "deep/down/c.webm", "shots/2.jpg", "shots/10.png", "notes.txt", ".hidden.mp4", "._clip2.mkv"):
        touch(tmp_path / name)
    assert expand_sources([tmp_path]) == [tmp_path / name for name in ("clip2.mkv", "clip10.MP4", "deep/down/c.webm", "shots")]
    touch(tmp_path / "cover.jpg")
    assert expand_sources([tmp_path])[0] == tmp_path


def test_pictures_come_in_natural_order_and_only_from_the_folder_itself(tmp_path: Path) -> None:
    for name in ("img10.jpg", "img9.JPG", "Img1.png", "sub/img0.jpg", ".img0.jpg", "img1.txt"):
        touch(tmp_path / name)
    (tmp_path / "folder.png").mkdir()
    assert [path.name for path in pictures_in(tmp_path)] == ["Img1.png", "img9.JPG", "img10.jpg"]


def test_names_of_any_shape_can_be_sorted() -> None:
    names = ["10", "a", "", "2", "a10b", "a2", "²", "A2", "é1"]
    ordered = sorted(names, key=natural_key)
    assert ordered.index("2") < ordered.index("10") < ordered.index("a")
    assert ordered == sorted(ordered, key=natural_key)


def test_linked_folders_are_not_followed(tmp_path: Path) -> None:
    video = touch(tmp_path / "a.mp4")
    (tmp_path / "up").symlink_to(tmp_path, target_is_directory=True)
    assert expand_sources([tmp_path]) == [video]


def test_entries_that_cannot_be_examined_do_not_hide_the_others(tmp_path: Path) -> None:
    video = touch(tmp_path / "a.mp4")
    for name in ("b.jpg", "folder"):
        (tmp_path / name).symlink_to("n" * 300)
    assert pictures_in(tmp_path) == [tmp_path / "b.jpg"]
    assert expand_sources([tmp_path]) == [tmp_path, video]


def test_the_error_for_a_folder_without_media_names_it_and_the_known_suffixes(tmp_path: Path) -> None:
    touch(tmp_path / "notes.txt")
    with pytest.raises(SourceError, match=r"\.mp4, \.mkv") as caught:
        expand_sources([tmp_path])
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("part", ["wal", "shm", "journal"])
def test_a_part_of_a_session_database_is_no_source(tmp_path: Path, part: str) -> None:
    with pytest.raises(SourceError, match=r"give the \.sqlite file"):
        expand_sources([touch(tmp_path / f"a.sqlite-{part}")])


def test_a_missing_path_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"gone\.mp4 does not exist"):
        expand_sources([tmp_path / "gone.mp4"])


@pytest.mark.parametrize(
    ("address", "advice"),
    [
        ("rtsp://camera/stream1", "is the address of a camera or stream, and only files and folders are read: record"),
        ("https://host:8080/live.m3u8", "is an address, and only files and folders are read: download"),
        ("file:///gone/a.mp4", "is an address: give the path alone, /gone/a.mp4"),
    ],
)
def test_an_address_is_distinguished_from_a_missing_file(address: str, advice: str) -> None:
    with pytest.raises(SourceError, match=f"^{address} {advice}"):
        expand_sources([Path(address)])


@pytest.mark.parametrize("camera", ["0", "12", "/dev/video97"])
def test_the_number_of_a_camera_is_recognised(camera: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SourceError, match=f"^{camera} does not exist; if a camera is meant, write its number as camera:0"):
        expand_sources([Path(camera)])
    (tmp_path / "0").touch()
    assert expand_sources([Path("0")]) == [Path("0")]


@pytest.mark.parametrize("address", ["192.168.1.5", "10.0.0.7:554/stream", "localhost:8554/cam"])
def test_an_address_without_its_beginning_is_recognised(address: str) -> None:
    with pytest.raises(SourceError, match=f"such as rtsp://{address}$"):
        expand_sources([Path(address)])


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"the folder .*none cannot be read: No such file or directory"):
        pictures_in(tmp_path / "none")


def test_a_name_with_a_colon_does_not_count_as_an_address(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not exist"):
        expand_sources([tmp_path / "rtsp:" / "a.mp4"])


def test_the_window_can_import_it_without_any_media_library() -> None:
    code = "import sys; from framefleet.engine.media import sources, types; sys.exit(bool({'av', 'cv2', 'openvino'} & sys.modules.keys()))"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[3])
