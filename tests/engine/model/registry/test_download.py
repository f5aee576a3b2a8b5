"""Downloads from a real web server that disconnects, stalls, sends wrong headers or serves the wrong files."""

from __future__ import annotations

import dataclasses
import hashlib
import signal
import subprocess
import sys
import threading
import time
from io import BytesIO
from pathlib import Path

import pytest
import requests

from framefleet.engine.model.load import check_model, load_network
from framefleet.engine.model.registry import download as downloading
from framefleet.engine.model.registry.catalogue import MIRROR, Cancellation, ModelEntry, RemoteFile, files_of, is_installed, partial_bytes
from framefleet.engine.model.registry.download import download
from framefleet.engine.notices import DownloadCancelledError, DownloadError
from tests.support.http import Page, Site, publish_tiny
from tests.support.models import TINY_CFG

CFG, WEIGHTS = "/tiny.cfg", "/tiny.weights"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "models"


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloading, "PAUSE_SECONDS", 0.01)


def names(entry: ModelEntry, folder: Path) -> set[str]:
    place = folder / entry.name
    return {path.name for path in place.iterdir()} if place.is_dir() else set()


def assert_no_model(entry: ModelEntry, folder: Path) -> None:
    assert not is_installed(entry, folder)
    assert not any(name.endswith(".weights") for name in names(entry, folder))


def publishing(entry: ModelEntry, weights: bytes) -> ModelEntry:
    """The entry of a model whose authors publish these weights."""
    return dataclasses.replace(entry, weights=RemoteFile(entry.weights.address, hashlib.sha256(weights).hexdigest()))


def test_a_model_is_there_and_works(site: Site, entry: ModelEntry, folder: Path) -> None:
    seen: list[int] = []
    files = download(entry, folder, seen.append)
    assert files == files_of(entry, folder)
    assert names(entry, folder) == {"tiny.cfg", "tiny.weights"}
    assert Path(files.weights).read_bytes() == site.pages[WEIGHTS].body
    assert load_network(files).classes == 3
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0, entry.weights_bytes)
    asked = len(site.requests)
    assert download(entry, folder) == files  # nothing is downloaded twice
    assert len(site.requests) == asked


def test_coco_models_get_their_labels(site: Site, folder: Path, tmp_path: Path) -> None:
    cfg = tmp_path / "coco.cfg"
    cfg.write_text(
        TINY_CFG.read_text()
        .replace("filters=24\nsize=1\nstride=1\nactivation=linear", "filters=255\nsize=1")
        .replace("classes=3", "classes=80")
    )
    entry = publish_tiny(site, tmp_path, "coco", cfg=cfg)
    files = download(entry, folder)
    assert names(entry, folder) == {"coco.cfg", "coco.weights", "coco.names"}
    assert check_model(files).labels[:2] == ("person", "bicycle")


def test_a_break_is_continued_where_it_happened(site: Site, entry: ModelEntry, folder: Path) -> None:
    site.pages[WEIGHTS].breaks = [20_000, 30_000]
    files = download(entry, folder)
    assert site.ranges(WEIGHTS) == [None, "bytes=20000-", "bytes=50000-"]
    assert Path(files.weights).read_bytes() == site.pages[WEIGHTS].body


def test_a_later_download_continues_an_earlier_one(site: Site, entry: ModelEntry, folder: Path) -> None:
    site.pages[WEIGHTS].breaks = [20_000, 0]
    with pytest.raises(
        DownloadError, match=r"was interrupted after 20,000 of 71,764 bytes \(the connection was closed\): try again to cont"
    ):
        download(entry, folder)
    assert_no_model(entry, folder)
    assert partial_bytes(entry, folder) == 20_000
    download(entry, folder)
    assert site.ranges(WEIGHTS)[-1] == "bytes=20000-"
    assert names(entry, folder) == {"tiny.cfg", "tiny.weights"}


@pytest.mark.parametrize("change", [{"ranges": False}, {"mark": None}, {"mark": 'W/"weak"'}], ids=["no ranges", "no mark", "weak mark"])
def test_a_download_that_cannot_continue_starts_again(site: Site, entry: ModelEntry, folder: Path, change: dict[str, object]) -> None:
    site.pages[WEIGHTS] = dataclasses.replace(site.pages[WEIGHTS], breaks=[30_000, 40_000], **change)  # type: ignore[arg-type]
    files = download(entry, folder)
    assert len(site.ranges(WEIGHTS)) == 3
    assert Path(files.weights).read_bytes() == site.pages[WEIGHTS].body


def test_the_download_fails_if_the_server_always_disconnects_at_the_same_byte(site: Site, entry: ModelEntry, folder: Path) -> None:
    site.pages[WEIGHTS] = dataclasses.replace(site.pages[WEIGHTS], mark=None, breaks=[30_000] * 9)
    with pytest.raises(DownloadError, match="was interrupted after 30,000"):
        download(entry, folder)
    assert len(site.ranges(WEIGHTS)) == 2


def test_the_download_ends_after_some_interruptions(site: Site, entry: ModelEntry, folder: Path) -> None:
    site.pages[WEIGHTS].breaks = [3_000] * downloading.ATTEMPTS
    with pytest.raises(DownloadError, match=r"was interrupted 20 times, the last time after 60,000 bytes: try again"):
        download(entry, folder)
    assert len(site.ranges(WEIGHTS)) == downloading.ATTEMPTS


def test_a_file_of_unknown_length_is_interrupted(site: Site, entry: ModelEntry, folder: Path) -> None:
    site.pages[CFG].body += b"\n" * 50_000
    site.pages[CFG].breaks = [20_000] * 2
    with pytest.raises(DownloadError, match=r"tiny\.cfg was interrupted after 20,000 bytes \("):
        download(entry, folder)


def test_a_cfg_of_another_network_is_rejected(site: Site, entry: ModelEntry, folder: Path) -> None:
    with pytest.raises(DownloadError, match=r"it has \d+ layers and [\d,]+ parameters, tiny has \d+ and"):
        download(dataclasses.replace(entry, layers=entry.layers + 1), folder)


def test_parts_of_two_different_files_are_never_joined(site: Site, entry: ModelEntry, folder: Path) -> None:
    page = site.pages[WEIGHTS]
    page.breaks = [40_000, 0]
    with pytest.raises(DownloadError):
        download(entry, folder)
    head, other = page.body[:20], bytes(reversed(page.body[20:]))
    site.pages[WEIGHTS] = Page(head + other, mark='"two"')
    files = download(publishing(entry, head + other), folder)
    assert Path(files.weights).read_bytes() == head + other


@pytest.mark.parametrize("wrong", ["gone", "416"])
def test_a_part_that_does_not_fit_is_dropped(site: Site, entry: ModelEntry, folder: Path, wrong: str) -> None:
    site.pages[WEIGHTS].breaks = [40_000, 0]
    with pytest.raises(DownloadError):
        download(entry, folder)
    part = folder / "tiny" / "tiny.weights.part"
    if wrong == "416":
        part.write_bytes(bytes(entry.weights_bytes))  # as long as the whole
    else:
        part.with_name("tiny.weights.part.json").write_text('{"address": 1')
    files = download(entry, folder)
    assert Path(files.weights).read_bytes() == site.pages[WEIGHTS].body


@pytest.mark.parametrize("length", [71_765, 71_763, 5, 10**12])
def test_a_wrong_length_is_rejected_before_the_download(site: Site, entry: ModelEntry, folder: Path, length: int) -> None:
    site.pages[WEIGHTS].length = length
    with pytest.raises(DownloadError, match=f"is announced with {length:,} bytes, but this file has exactly 71,764"):
        download(entry, folder)
    assert_no_model(entry, folder)
    assert partial_bytes(entry, folder) == 0


def test_without_a_length_the_bytes_are_counted(site: Site, entry: ModelEntry, folder: Path) -> None:
    page = site.pages[WEIGHTS]
    page.chunked = True
    whole = page.body
    page.body = whole + b"more"
    with pytest.raises(DownloadError, match="sends more than the expected 71,764 bytes"):
        download(entry, folder)
    assert partial_bytes(entry, folder) == 0
    page.body = whole[:-4]
    with pytest.raises(DownloadError, match="was interrupted after 71,760 of 71,764"):
        download(entry, folder)
    assert_no_model(entry, folder)
    page.body, page.mark = whole, '"new"'
    assert is_installed(entry, folder) is (download(entry, folder) is None)
    assert is_installed(entry, folder)


@pytest.mark.parametrize(("status", "path"), [(404, WEIGHTS), (500, WEIGHTS), (403, CFG), (404, CFG)])
def test_an_error_of_the_server_is_reported(site: Site, entry: ModelEntry, folder: Path, status: int, path: str) -> None:
    site.pages[path] = Page(b"no", status, "text/plain")
    with pytest.raises(DownloadError, match=f"{path} cannot be downloaded, the server answers '{status} .*FRAMEFLEET_MODELS_URL"):
        download(entry, folder)
    assert_no_model(entry, folder)


def test_a_web_page_instead_of_a_model_is_rejected(site: Site, entry: ModelEntry, folder: Path) -> None:
    for path in (CFG, WEIGHTS):
        before = site.pages[path]
        site.pages[path] = Page(b"<html>Please log in</html>", content_type="text/html; charset=utf-8")
        with pytest.raises(DownloadError, match="answers with a web page instead of the file"):
            download(entry, folder)
        assert_no_model(entry, folder)
        site.pages[path] = before


def test_other_weights_of_the_same_length_are_found_out(site: Site, folder: Path, tmp_path: Path) -> None:
    page = Page(bytes(71_764))
    entry = publish_tiny(site, tmp_path, sha256=hashlib.sha256(page.body).hexdigest())
    with pytest.raises(DownloadError, match="SHA-256 is not"):
        download(entry, folder)
    assert names(entry, folder) == {"tiny.cfg"}
    right = hashlib.sha256(site.pages[WEIGHTS].body).hexdigest()
    download(dataclasses.replace(entry, weights=RemoteFile(entry.weights.address, right)), folder)
    assert is_installed(entry, folder)


def test_a_file_without_the_header_of_weights_is_rejected(site: Site, entry: ModelEntry, folder: Path) -> None:
    site.pages[WEIGHTS].body = bytes(71_764)  # version 0.0: by that header the file would be 4 bytes shorter
    with pytest.raises(DownloadError, match=r"is not the file that was published: .*71,760 bytes"):
        download(publishing(entry, bytes(71_764)), folder)
    assert names(entry, folder) == {"tiny.cfg"}


@pytest.mark.parametrize("change", ["truncated", "text", "binary", "huge", "wider"])
def test_a_wrong_cfg_is_rejected(site: Site, entry: ModelEntry, folder: Path, change: str) -> None:
    right = TINY_CFG.read_bytes()
    site.pages[CFG].body = {
        "truncated": right[: len(right) // 2],
        "text": b"404: Not Found",
        "binary": bytes(100),
        "huge": right + b"\n" * (1 << 20),
        "wider": right.replace(b"filters=16", b"filters=24", 1),
    }[change]
    with pytest.raises(DownloadError, match=r"tiny.cfg (is not the file that was published|sends more than)"):
        download(entry, folder)
    assert names(entry, folder) == set()


def test_a_cut_cfg_is_downloaded_again(site: Site, entry: ModelEntry, folder: Path) -> None:
    site.pages[CFG].breaks = [500, 900]
    download(entry, folder)
    assert (folder / "tiny" / "tiny.cfg").read_bytes() == TINY_CFG.read_bytes()


def test_redirects_are_followed_but_not_in_a_circle(site: Site, entry: ModelEntry, folder: Path) -> None:
    site.pages["/there"] = site.pages[WEIGHTS]
    site.pages["/there"].breaks = [30_000]
    site.pages[WEIGHTS] = Page(redirect="/there")
    download(entry, folder)
    assert site.ranges("/there") == [None, "bytes=30000-"]
    (folder / "tiny" / "tiny.weights").unlink()
    site.pages["/there"] = Page(redirect=WEIGHTS)
    with pytest.raises(DownloadError, match="redirects in a circle"):
        download(entry, folder)


def cancel_when(ready: threading.Event, cancellation: Cancellation) -> threading.Thread:
    def run() -> None:
        ready.wait(60)
        time.sleep(0.05)  # it waits for the network now
        cancellation.cancel()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


@pytest.mark.parametrize("stall", [-1, 0, 30_000], ids=["before the headers", "after the headers", "in the middle"])
def test_cancelling_ends_at_once_though_the_server_is_silent(site: Site, entry: ModelEntry, folder: Path, stall: int) -> None:
    site.pages[WEIGHTS].stall = stall
    cancellation = Cancellation()
    thread = cancel_when(site.stalled, cancellation)
    with pytest.raises(DownloadCancelledError):
        download(entry, folder, cancellation=cancellation)
    thread.join()  # without cancelling, the download would fail as the server is silent
    assert_no_model(entry, folder)
    site.pages[WEIGHTS].stall = None
    download(entry, folder)  # the lock is free, and what there was is continued
    assert bool(site.ranges(WEIGHTS)[-1]) is (stall > 0)


def test_cancelling_a_slow_download_keeps_its_bytes(site: Site, entry: ModelEntry, folder: Path) -> None:
    site.pages[WEIGHTS].pause = 0.02
    cancellation = Cancellation()

    def progress(done: int) -> None:
        if done > 20_000:
            cancellation.cancel()

    with pytest.raises(DownloadCancelledError):
        download(entry, folder, progress, cancellation)
    assert 20_000 <= partial_bytes(entry, folder) < 40_000
    assert_no_model(entry, folder)
    with pytest.raises(DownloadCancelledError):  # cancelled before it has begun
        download(entry, folder, cancellation=cancellation)


def test_the_download_fails_if_the_server_is_silent(site: Site, entry: ModelEntry, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloading, "SILENT_SECONDS", 0.2)
    site.pages[WEIGHTS].stall, site.pages[WEIGHTS].mark = 30_000, None
    with pytest.raises(DownloadError, match=r"was interrupted after 30,720 of 71,764 bytes \(no answer in time\)"):
        download(entry, folder)
    site.pages[WEIGHTS].stall = -1
    (folder / "tiny" / "tiny.weights.part").unlink()
    with pytest.raises(DownloadError, match=r"127.0.0.1 cannot be reached \(no answer in time\)"):
        download(entry, folder)


def test_two_at_once_do_not_disturb_each_other(site: Site, entry: ModelEntry, folder: Path) -> None:
    site.pages[WEIGHTS].pause = 0.01
    half = threading.Event()
    first = threading.Thread(target=download, args=(entry, folder, lambda done: half.set() if done > 30_000 else None))
    first.start()
    assert half.wait(60)
    with pytest.raises(DownloadError, match="tiny is being downloaded already, by process"):
        download(entry, folder)
    first.join()
    assert download(entry, folder) == files_of(entry, folder)
    assert len(site.ranges(WEIGHTS)) == 1


def test_a_killed_download_frees_its_lock_and_is_continued(site: Site, entry: ModelEntry, folder: Path) -> None:
    site.pages[WEIGHTS].stall = 40_000
    program = f"""
from pathlib import Path
from framefleet.engine.model.registry.download import download
from framefleet.engine.model.registry.catalogue import ModelEntry, Purpose, RemoteFile
download({entry!r}, Path({str(folder)!r}))
""".replace("<Purpose.FAST: 'fast'>", "Purpose.FAST")
    process = subprocess.Popen([sys.executable, "-c", program], cwd=Path(__file__).parents[4])
    assert site.stalled.wait(60)
    deadline = time.monotonic() + 60
    while partial_bytes(entry, folder) < 30_000 and time.monotonic() < deadline:
        time.sleep(0.01)
    with pytest.raises(DownloadError, match="already"):
        download(entry, folder)
    process.kill()
    assert process.wait(60) == -signal.SIGKILL
    assert_no_model(entry, folder)
    site.pages[WEIGHTS].stall = None
    files = download(entry, folder)
    assert site.ranges(WEIGHTS)[-1] is not None
    assert Path(files.weights).read_bytes() == site.pages[WEIGHTS].body
    assert names(entry, folder) == {"tiny.cfg", "tiny.weights"}


def at(entry: ModelEntry, address: str) -> ModelEntry:
    return dataclasses.replace(entry, cfg=RemoteFile(address, entry.cfg.sha256))


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("http://no-such-host.invalid/tiny.cfg", r"no-such-host.invalid cannot be reached \(its name is unknown here\).*machine online"),
        ("http://127.0.0.1:9/tiny.cfg", r"127.0.0.1 cannot be reached \(it refuses the connection\)"),
        ("ftp://127.0.0.1/tiny.cfg", "is not the address of a web server"),
        ("tiny.cfg", "is not the address of a web server"),
        ("http://", "is not the address of a web server"),
    ],
)
def test_the_error_explains_why_a_server_cannot_be_reached(entry: ModelEntry, folder: Path, address: str, message: str) -> None:
    with pytest.raises(DownloadError, match=message):
        download(at(entry, address), folder)
    assert names(entry, folder) == set()


def test_the_error_explains_a_failed_secure_connection_or_proxy(
    site: Site, entry: ModelEntry, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DownloadError, match="cannot be reached safely"):
        download(at(entry, site.address.replace("http", "https") + CFG), folder)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with pytest.raises(DownloadError, match=r"the proxy that HTTP_PROXY or HTTPS_PROXY names does not answer"):
        download(at(entry, "http://somewhere.invalid/tiny.cfg"), folder)
    monkeypatch.setenv("http_proxy", site.address)  # a proxy that works asks the server itself
    site.pages["http://somewhere.invalid/tiny.cfg"] = site.pages[CFG]
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    download(at(entry, "http://somewhere.invalid/tiny.cfg"), folder)
    assert is_installed(entry, folder)


def test_a_mirror_is_used(site: Site, entry: ModelEntry, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site.pages["/mirror/tiny.cfg"], site.pages["/mirror/tiny.weights"] = site.pages.pop(CFG), site.pages.pop(WEIGHTS)
    monkeypatch.setenv(MIRROR, f"{site.address}/mirror/")
    download(entry, folder)
    assert is_installed(entry, folder)


def test_a_full_disk_is_reported(site: Site, entry: ModelEntry, folder: Path) -> None:
    vast = dataclasses.replace(entry, parameters=10**15)
    with pytest.raises(DownloadError, match=r"tiny needs 4,000,000,\d+ MB more in .* are free there: make room"):
        download(vast, folder)
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full here")

    class Full:  # the part lies on a device without space
        def __call__(self, done: int) -> None:
            part = folder / "tiny" / "tiny.weights.part"
            if done == 0 and not part.exists():
                part.symlink_to(full)

    with pytest.raises(DownloadError, match=r"tiny.weights.part cannot be written: No space left on device"):
        download(entry, folder, Full())
    assert_no_model(entry, folder)


def test_a_folder_without_write_permission_is_reported(entry: ModelEntry, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DownloadError, match=r"file cannot be written to: (Not a directory|File exists)"):
        download(entry, tmp_path / "file")
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "tiny").touch()
    with pytest.raises(DownloadError, match=r"tiny cannot be written to: File exists"):
        download(entry, tmp_path / "m")


def test_no_download_comes_from_a_redirect_to_a_file(site: Site, entry: ModelEntry, folder: Path) -> None:
    site.pages[WEIGHTS] = Page(redirect="file:///etc/passwd")
    with pytest.raises(DownloadError, match=r"redirects to file:///etc/passwd") as caught:
        download(entry, folder)
    assert caught.value.notice.code == "model.refused_redirect"


@pytest.mark.parametrize(("start", "target", "allowed"), [("https", "http", False), ("https", "https", True), ("http", "http", True)])
def test_a_safe_address_never_becomes_an_unsafe_one(start: str, target: str, allowed: bool) -> None:
    response = requests.Response()
    response.raw = BytesIO()  # a server with a certificate would need one for this machine
    response.status_code, response.url, response.headers["Location"] = 302, f"{start}://example.org/a", f"{target}://example.org/b"
    session = downloading.WebSession()
    if allowed:
        assert session.get_redirect_target(response) == f"{target}://example.org/b"
    else:
        with pytest.raises(downloading.RefusedRedirectError):
            session.get_redirect_target(response)


def test_a_download_that_trickles_ends(site: Site, entry: ModelEntry, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloading, "START_SECONDS", 0.0)
    monkeypatch.setattr(downloading, "MIN_BYTES_PER_S", 10**12)
    with pytest.raises(DownloadError) as caught:
        download(entry, folder)
    assert caught.value.notice.code == "model.too_slow"
    monkeypatch.undo()
    download(entry, folder)


def test_files_without_a_digest_are_downloaded_only_on_request(site: Site, entry: ModelEntry, folder: Path) -> None:
    entry = dataclasses.replace(entry, weights=dataclasses.replace(entry.weights, sha256=None))
    with pytest.raises(DownloadError, match=r"tiny\.weights.*--unverified"):
        download(entry, folder)
    assert not site.requests
    assert_no_model(entry, folder)
    download(entry, folder, accept_unverified=True)
    assert is_installed(entry, folder)
