"""Addresses of live sources: what they name, and that nothing shows users and passwords."""

from __future__ import annotations

import pickle
import sys
import types
from pathlib import Path

import pytest

from framefleet.engine.media.live.address import LiveAddress, LiveKind, hide
from framefleet.engine.notices import UsageError


@pytest.mark.parametrize(
    ("text", "kind", "target", "user", "password"),
    [
        ("rtsp://10.0.0.5/stream1", LiveKind.RTSP, "rtsp://10.0.0.5/stream1", None, None),
        ("RTSP://cam:8554/a?b=1", LiveKind.RTSP, "rtsp://cam:8554/a?b=1", None, None),
        ("rtsps://me@cam/a", LiveKind.RTSP, "rtsps://cam/a", "me", None),
        ("rtsp://me:secret@cam/a", LiveKind.RTSP, "rtsp://cam/a", "me", "secret"),
        ("rtsp://me:se%40cr%2Fet@cam/a", LiveKind.RTSP, "rtsp://cam/a", "me", "se@cr/et"),
        ("rtsp://me:se@cr:et@cam/a", LiveKind.RTSP, "rtsp://cam/a", "me", "se@cr:et"),
        ("rtsp://me:@/et@cam/a", LiveKind.RTSP, "rtsp://cam/a", "me", "@/et"),
        ("rtsp://cam/a@1", LiveKind.RTSP, "rtsp://cam/a@1", None, None),
        ("http://[fe80::1]:80/video", LiveKind.HTTP, "http://[fe80::1]:80/video", None, None),
        ("https://me:pw@cam/live.m3u8", LiveKind.HTTP, "https://cam/live.m3u8", "me", "pw"),
        ("camera:0", LiveKind.CAMERA, "0", None, None),
    ],
)
def test_an_address_is_read(text: str, kind: LiveKind, target: str, user: str | None, password: str | None) -> None:
    address = LiveAddress.read(text)
    assert address is not None
    assert (address.kind, address.target, address.user, address.password) == (kind, target, user, password)
    assert pickle.loads(pickle.dumps(address)) == address


@pytest.mark.parametrize(
    "text", ["street.mp4", "folder/with:colon", "ftp://host/a", "file:///etc/passwd", "camera:", "camera:x", "C:/video.mp4"]
)
def test_other_texts_are_no_addresses(text: str) -> None:
    assert LiveAddress.read(text) is None


@pytest.mark.parametrize(
    "text", ["rtsp://", "rtsp:///path", "http://me:secret@", "rtsp://cam:99999/a", "rtsp://cam:port/a", "rtsp://ca m/a"]
)
def test_an_address_without_a_host_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not an address of a stream") as raised:
        LiveAddress.read(text)
    assert raised.value.notice.code == "live.no_host"
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        "rtsp://admin:hunter2@10.0.0.5:554/Streaming/Channels/101",
        "rtsp://admin:hunter2@cam/a?password=hunter2&channel=1",
        "rtsp://10.0.0.5:554/user=admin&password=hunter2&channel=1&stream=0.sdp",
        "http://cam/video.cgi?usr=admin&pwd=hunter2",
        "http://cam/live.m3u8?token=hunter2",
    ],
)
def test_nothing_shows_a_password(text: str) -> None:
    address = LiveAddress.read(text)
    assert address is not None
    shown = f"{address} {address!r} {address.shown} {address.name} {hide(f'cannot open {text}: refused')}"
    assert "hunter2" not in shown
    assert "admin" not in str(address)
    assert "hunter2" in address.with_login  # for the library that opens it


def test_a_library_gets_user_and_password_escaped() -> None:
    address = LiveAddress.read("rtsp://me:p@/:s s?@cam:8554/a")
    assert address is not None
    assert address.password == "p@/:s s?"
    assert address.with_login == "rtsp://me:p%40%2F%3As%20s%3F@cam:8554/a"


def test_names_can_be_parts_of_file_names(tmp_path: Path) -> None:
    texts = "rtsp://10.0.0.5:554/Streaming/Channels/101", "http://cam/live/index.m3u8", "camera:2"
    names = [address.name for address in map(LiveAddress.read, texts) if address is not None]
    assert names == ["10-0-0-5-554-Streaming-Channels-101", "cam-live-index", "camera-2"]
    assert LiveAddress.growing(tmp_path / "a.ts").name == "a.ts"


def test_a_netrc_file_has_the_password(tmp_path: Path) -> None:
    file = tmp_path / "cameras"
    file.write_text("machine cam login me password s3cret\nmachine other login you password no\n")
    file.chmod(0o600)
    bare, named, unknown = (LiveAddress.read(text) for text in ("rtsp://cam/a", "rtsp://x:y@cam/a", "rtsp://third/a"))
    assert bare is not None
    assert named is not None
    assert unknown is not None
    assert (bare.with_netrc(file).user, bare.with_netrc(file).password) == ("me", "s3cret")
    assert named.with_netrc(file) == named
    assert unknown.with_netrc(file) == unknown


@pytest.mark.parametrize("content", [None, "machine cam login me passwort s3cret\n", "\xff"])
def test_a_netrc_file_that_cannot_be_read_is_named_without_its_content(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "cameras"
    if content is not None:
        file.write_bytes(content.encode("latin-1"))
    address = LiveAddress.read("rtsp://cam/a")
    assert address is not None
    with pytest.raises(UsageError, match="cameras cannot be read as a netrc file") as raised:
        address.with_netrc(file)
    assert "s3cret" not in str(raised.value)


@pytest.fixture
def key_ring(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], str]:
    """What the library ``keyring``, which is no dependency, would find."""
    kept: dict[tuple[str, str], str] = {}

    def get(service: str, name: str) -> str | None:
        if name == "locked":
            raise RuntimeError("it is locked")
        return kept.get((service, name))

    module, errors = types.ModuleType("keyring"), types.ModuleType("keyring.errors")
    module.get_password = get  # type: ignore[attr-defined]
    errors.KeyringError = RuntimeError  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", module)
    monkeypatch.setitem(sys.modules, "keyring.errors", errors)
    return kept


def with_key_ring(text: str) -> LiveAddress:
    address = LiveAddress.read(text)
    assert address is not None
    return address.with_key_ring()


def test_the_key_ring_has_the_password_of_a_user_or_both_of_a_host(key_ring: dict[tuple[str, str], str]) -> None:
    key_ring["framefleet", "me@cam"] = "s3cret"
    key_ring["framefleet", "cam"] = "other\np:w"
    for text, login in (
        ("rtsp://me@cam/a", ("me", "s3cret")),
        ("rtsp://cam/a", ("other", "p:w")),
        ("rtsp://other@cam/a", ("other", "p:w")),
        ("rtsp://me:own@cam/a", ("me", "own")),
        ("camera:0", (None, None)),
    ):
        address = with_key_ring(text)
        assert (address.user, address.password) == login
        assert "s3cret" not in f"{address} {address!r}"
    for text, words in (
        ("rtsp://you@cam/a", "has no password for you@cam"),
        ("rtsp://dam/a", "for dam"),
        ("rtsp://locked/a", "it is locked"),
    ):
        with pytest.raises(UsageError, match=words):
            with_key_ring(text)


def test_without_the_library_the_key_ring_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(UsageError, match="install the Python package 'keyring'"):
        with_key_ring("rtsp://me@cam/a")
