"""Probing reports sources that cannot be used, and no source can make it open another file."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import av
import pytest
from av.stream import Disposition

from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.media.container.video_file import open_local
from framefleet.engine.media.cpu_decoding import decode
from framefleet.engine.media.probe import examples, probe
from framefleet.engine.media.types import Sampling
from framefleet.engine.notices import Notice, SourceError
from framefleet.engine.settings.kinds import Moment
from tests.engine.media.conftest import Clip
from tests.support.media import make_audio, make_heif, make_video, number_of, numbered, rewrap


def first_of(path: Path, count: int) -> list[HostImage]:
    return next(examples([path], count))


def test_frames_are_spread_over_a_video(clip: Clip) -> None:
    numbers = [number_of(image) for image in first_of(clip("a.mp4", frames=240, gop=24), 4)]
    assert len(numbers) == 4
    assert numbers[-1] - numbers[0] >= 96


def test_a_video_of_one_segment_gives_frames_that_differ(clip: Clip) -> None:
    numbers = [number_of(image) for image in first_of(clip("b.mp4", frames=60, gop=60), 4)]
    assert numbers == [0, 12, 24, 36]


def test_a_short_video_gives_what_it_has(clip: Clip) -> None:
    assert len(first_of(clip("c.mp4", frames=5, gop=5), 16)) == 1


def test_a_file_that_cannot_be_read_gives_none(tmp_path: Path) -> None:
    junk = tmp_path / "junk.mp4"
    junk.write_bytes(b"no video")
    assert [*examples([junk, tmp_path / "missing.mp4"], 4)] == [[], []]


def test_further_sources_give_half_of_the_frames(clip: Clip) -> None:
    paths = [clip("a.mp4", frames=240, gop=24), clip("b.mp4", frames=60, gop=60), clip("a.mp4", frames=240, gop=24)]
    assert [*map(len, examples(paths, 4))] == [4, 2, 2]


def refused(path: Path, words: str) -> None:
    with pytest.raises(SourceError, match=words) as caught:
        probe(path)
    assert str(path) in str(caught.value)


def test_the_duration_reaches_the_last_frame(clip: Clip) -> None:
    """In MP4 of variable frame rate with B-frames, the stated duration may end before it."""
    times = [number * 33 if number < 50 else 1650 + (number - 50) * 100 for number in range(90)]
    info = probe(clip("a.mp4", frames=90, bframes=2, pts=times, time_base=Fraction(1, 1000)))
    assert info.duration == pytest.approx(5.65, abs=0.01)


def test_a_missing_file(tmp_path: Path) -> None:
    refused(tmp_path / "gone.mp4", "does not exist")


def test_an_address_is_distinguished_from_a_missing_file() -> None:
    with pytest.raises(SourceError, match=r"^rtsp://camera/1 is the address of a camera or stream, and only files"):
        probe(Path("rtsp://camera/1"))
    with pytest.raises(SourceError, match=r"^udp://239.0.0.1:1234 is a stream of a kind that is not read: give an address with rtsp,"):
        probe(Path("udp://239.0.0.1:1234"))


def test_raw_jpegs_that_ffmpeg_does_not_recognise_are_read_by_their_suffix(tmp_path: Path) -> None:
    shape = {"pix_fmt": "yuvj420p", "aspect": Fraction(1)}  # which the encoder states in a JFIF header
    path = make_video(tmp_path / "a.mjpeg", 20, codec="mjpeg", container="mjpeg", **shape)  # type: ignore[arg-type]
    with pytest.raises(av.FFmpegError):
        open_local(str(path))
    assert probe(path).frames == 20


@pytest.mark.parametrize("name", ["a.mp4", "a.jpg"])
def test_an_empty_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.touch()
    refused(path, "is empty")


@pytest.mark.parametrize("name", ["a.mp4", "a.png"])
def test_junk(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(bytes(range(256)) * 40)
    refused(path, "can be read")


def test_sound_without_a_picture(tmp_path: Path) -> None:
    refused(make_audio(tmp_path / "a.m4a"), "no video track")


def test_an_album_cover_does_not_count_as_a_video_track(tmp_path: Path) -> None:
    path = make_audio(tmp_path / "a.mp4", cover=True)
    with av.open(str(path)) as container:
        assert container.streams.video
    refused(path, "no video track")


def test_a_video_without_a_frame(clip: Clip, tmp_path: Path) -> None:
    header = tmp_path / "header.avi"
    with av.open(str(header), "w") as output:
        output.add_stream("mpeg4", rate=25)
        output.start_encoding()
    refused(header, r"can be decoded \(no frame in it can be decoded\)")
    refused(rewrap(clip("a.mkv", frames=12, codec="mpeg4"), tmp_path / "zeros.mkv", lambda _, data, __: bytes(len(data))), "decoded")


def test_a_codec_without_a_decoder(clip: Clip, tmp_path: Path) -> None:
    path = tmp_path / "a.mkv"
    path.write_bytes(clip("m.mkv", frames=3, codec="mjpeg", pix_fmt="yuvj420p").read_bytes().replace(b"V_MJPEG", b"V_OTHER"))
    refused(path, "there is no decoder for its video track; convert it to H.264")


def test_a_video_with_copy_protection(clip: Clip) -> None:
    secret = {"encryption_scheme": "cenc-aes-ctr", "encryption_key": "76a6c65c5ea762046bd749a2e632ccbb", "encryption_kid": "00" * 16}
    refused(clip("a.mp4", frames=30, muxer=secret), "is encrypted: copy it without copy protection to use it")


def test_a_telephones_picture_in_tiles_is_not_taken_for_its_first_tile(tmp_path: Path) -> None:
    refused(make_heif(tmp_path / "a.heic", 3, 2), r"is a picture in tiles, as telephones store them \(HEIC\): convert it to JPEG")
    whole = probe(make_heif(tmp_path / "b.heic", 1, 1))
    assert (whole.width, whole.height, whole.frames) == (64, 64, 1)


def test_a_video_with_pictures_that_are_too_large(clip: Clip) -> None:
    refused(
        clip("wide.mkv", frames=1, codec="mjpeg", pix_fmt="yuvj420p", size=(16400, 16)), "claims pictures of 16400×16: at most 16384×16384"
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(clip: Clip, tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    path.write_bytes(clip("a.mp4").read_bytes())
    path.chmod(0)
    refused(path, "cannot be read")


def test_a_named_pipe_is_rejected_without_reading_it(tmp_path: Path) -> None:
    for name, words in {"a.mp4": "is not a regular file: give a video", "a.jpg": "is not a regular file: give a picture, or"}.items():
        os.mkfifo(tmp_path / name)
        refused(tmp_path / name, words)


def test_a_folder_without_pictures(tmp_path: Path) -> None:
    refused(tmp_path, "no picture")


def test_names_that_look_like_addresses_are_files(clip: Clip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("concat:a|b.mp4", "pipe:0.mp4", "%03d.mp4", "täst 🎬.mp4"):
        Path(name).write_bytes(clip("a.mp4").read_bytes())
        assert probe(Path(name)).frames == 60


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    """The address of a server on this machine, and the paths requested from it."""
    requested: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requested.append(self.path)
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}", requested
        http.shutdown()
        thread.join()


PLAYLISTS = {
    "hls": "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n{}\n#EXT-X-ENDLIST\n",
    "indented hls": "\n  #EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n{}\n#EXT-X-ENDLIST\n",
    "concat": "ffconcat version 1.0\nfile '{}'\n",
}


@pytest.mark.parametrize("name", ["list.m3u8", "list.mp4", "list.ts", "list.txt", "list.mkv"])
@pytest.mark.parametrize("kind", PLAYLISTS)
def test_a_playlist_is_rejected_and_opens_no_other_file(
    kind: str, name: str, clip: Clip, tmp_path: Path, server: tuple[str, list[str]]
) -> None:
    address, requested = server
    (tmp_path / "other.ts").write_bytes(clip("a.ts", frames=20).read_bytes())
    for target in ("other.ts", f"{address}/other.ts"):
        (tmp_path / name).write_text(PLAYLISTS[kind].format(target))
        refused(tmp_path / name, "playlist")
    assert not requested


def test_the_name_of_an_image_sequence_opens_no_other_file(tmp_path: Path) -> None:
    picture = av.VideoFrame.from_ndarray(numbered(3, (64, 64)), format="rgb24")
    with av.open(str(tmp_path / "1.sgi"), "w", format="image2") as output:
        stream = output.add_stream("sgi", rate=1)
        stream.width, stream.height, stream.pix_fmt = 64, 64, "rgb24"
        output.mux(stream.encode(picture))
        output.mux(stream.encode(None))
    pattern = tmp_path / "%d.sgi"
    pattern.write_bytes(b"not a picture")
    with av.open(str(pattern)) as sequence:
        assert len(list(sequence.decode(video=0))) == 1, "FFmpeg itself takes the name for a pattern and opens 1.sgi"
    refused(pattern, "not a video that can be read")


@pytest.mark.parametrize("url", ["{}/clip.ts", "async:{}/clip.ts", "concat:/dev/null|{}/clip.ts"])
def test_only_the_file_protocol_is_allowed(url: str, server: tuple[str, list[str]]) -> None:
    address, requested = server
    with pytest.raises((av.FFmpegError, ValueError, OSError)):
        open_local(url.format(address))
    assert not requested


@pytest.mark.parametrize(
    "text", ["v=0\nm=video 5004 RTP/AVP 96\n", "<MPD><Period/></MPD>", "<?xml version='1.0'?><MPD/>", "[playlist]\nFile1=/etc/passwd"]
)
def test_other_text_formats_are_rejected(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    path.write_text(text)
    refused(path, "playlist|not a video that can be read")


def test_a_movie_that_refers_to_another_file_does_not_open_it(clip: Clip, tmp_path: Path) -> None:
    """A QuickTime data reference ("alis") may name a file; the samples must not come from there."""
    content = clip("a.mov", frames=20).read_bytes()
    assert b"url \0\0\0\1" in content
    path = tmp_path / "a.mov"
    path.write_bytes(content.replace(b"url \0\0\0\1", b"alis\0\0\0\0"))
    try:
        info = probe(path)
    except SourceError:
        return
    assert info.frames == 20


def test_too_large_dimensions_are_rejected(clip: Clip, tmp_path: Path) -> None:
    content = clip("a.mkv", frames=5, size=(96, 64), codec="mjpeg", pix_fmt="yuvj420p").read_bytes()
    width = content.index(b"\xb0\x81\x60\xba\x81\x40")  # PixelWidth 96, PixelHeight 64
    path = tmp_path / "a.mkv"
    path.write_bytes(content[:width] + b"\xb0\x82\xff\xff\xba\x80" + content[width + 6 :])
    with pytest.raises(SourceError, match=r"65535×|can be (read|decoded)"):
        probe(path)


def test_dimensions_follow_rotation_and_pixel_shape(clip: Clip) -> None:
    info = probe(clip("a.mp4", frames=5, size=(160, 96), rotation=90, aspect=Fraction(4, 3)))
    assert (info.width, info.height) == (96, 213)
    frame = next(iter(decode(info, info.segments[0])))
    assert frame.image.shape == (213, 96, 3)  # type: ignore[union-attr]


def test_duration_and_rate(clip: Clip) -> None:
    for name in ("a.mp4", "a.mkv", "a.ts", "a.avi"):
        info = probe(clip(name, frames=90, rate=25))
        assert info.duration == pytest.approx(3.6, abs=0.01), name
        assert info.rate == pytest.approx(25, abs=0.1), name


def test_an_ivf_may_state_its_duration_instead_of_its_frames(tmp_path: Path) -> None:
    quick = {"deadline": "realtime", "cpu-used": "8"}
    times = {"pts": range(0, 800, 40), "time_base": Fraction(1, 1000)}
    path = make_video(tmp_path / "a.ivf", 20, (64, 48), codec="libvpx-vp9", options=quick, **times)
    content = bytearray(path.read_bytes())
    for stated in (20, 800):
        content[24:28] = stated.to_bytes(4, "little")
        path.write_bytes(content)
        assert probe(path).frames == 20


def test_of_two_tracks_the_default_one_is_used(clip: Clip, tmp_path: Path) -> None:
    path = tmp_path / "two.mkv"
    clips = clip("a.mp4", frames=5), clip("b.mp4", frames=5, size=(160, 96))
    with av.open(str(clips[0])) as small, av.open(str(clips[1])) as large, av.open(str(path), "w") as output:
        tracks = [output.add_stream_from_template(source.streams.video[0]) for source in (small, large)]
        tracks[0].disposition, tracks[1].disposition = Disposition(0), Disposition.default
        for source, track in zip((small, large), tracks, strict=True):
            for packet in source.demux(video=0):
                if packet.size:
                    packet.stream = track
                    output.mux(packet)
    info = probe(path)
    assert (info.width, info.height) == (160, 96)


@pytest.mark.parametrize("options", [{}, {"muxer": {"movflags": "faststart"}}, {"muxer": {"movflags": "frag_keyframe+empty_moov"}}])
def test_joined_mp4s_are_said_to_be_read_in_part(options: dict[str, Any], clip: Clip, tmp_path: Path) -> None:
    """FFmpeg ignores all but the first, as players do."""
    path = tmp_path / "joined.mp4"
    part = clip("a.mp4", **options)
    assert probe(part).note is None
    path.write_bytes(part.read_bytes() + clip("b.mp4", frames=20).read_bytes())
    info = probe(path)
    assert info.note == Notice("media.joined_files", path=path, count=2, format="MP4")
    assert "holds 2 MP4 files" in str(info.note)
    assert info.frames == 60 or "muxer" in options


@pytest.mark.parametrize(
    ("name", "options"), [("a.wmv", {"codec": "wmv2", "audio": True}), ("a.flv", {"audio": True}), ("a.flv", {"codec": "flv"})]
)
def test_joined_wmv_and_flv_files_are_said_to_be_read_in_part(name: str, options: dict[str, Any], clip: Clip, tmp_path: Path) -> None:
    path = tmp_path / name
    part = clip(name, **options)
    assert probe(part).note is None
    path.write_bytes(3 * part.read_bytes())
    info = probe(path)
    assert info.frames == 60
    assert info.note == Notice("media.joined_files", path=path, count=3, format=name[2:].upper().replace("WMV", "ASF"))


def test_further_video_tracks_are_named(clip: Clip, tmp_path: Path) -> None:
    """Recorders with two cameras write such files."""
    path = tmp_path / "two.mkv"
    with av.open(str(clip("a.mp4"))) as first, av.open(str(clip("b.mp4", frames=20))) as second, av.open(str(path), "w") as output:
        tracks = [source.streams.video[0] for source in (first, second)]
        copies = [output.add_stream_from_template(track) for track in tracks]
        for track, copy in zip(tracks, copies, strict=True):
            for packet in track.container.demux(track):
                if packet.dts is not None:
                    packet.stream = copy
                    output.mux(packet)
    info = probe(path)
    assert info.frames == 60
    assert info.note == Notice("media.several_tracks", path=path, count=2)
    assert probe(make_video(tmp_path / "sound.mp4", 12, (96, 64), audio=True)).note is None


def test_a_file_without_a_known_suffix_is_examined_by_its_content(clip: Clip, tmp_path: Path) -> None:
    path = tmp_path / "video.bin"
    path.write_bytes(clip("a.mp4").read_bytes())
    info = probe(path)
    assert [number_of(frame.image) for frame in decode(info, info.segments[0])] == list(range(60))  # type: ignore[union-attr]


def test_a_part_behind_the_end_of_a_raw_stream(clip: Clip) -> None:
    with pytest.raises(SourceError, match=r"a\.h264 has 12 frames in 0\.4 s, and --from 50 lies behind its end: begin earlier"):
        probe(clip("a.h264", frames=12), Sampling(begin=Moment(frames=50)))
