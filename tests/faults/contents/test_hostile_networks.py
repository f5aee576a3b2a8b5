"""Must hold: a download takes bytes of web servers only, and a node gets contents of the run only, whatever they ask for.

Long form: ``pytest tests/faults/contents/test_hostile_networks.py -m slow -s`` (500 chains of redirects, 1,000 requests of nodes).
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from framefleet.engine.cluster.files import Content, Contents, content_of
from framefleet.engine.cluster.relay import Relay
from framefleet.engine.model.registry import download as downloading
from framefleet.engine.model.registry.catalogue import ModelEntry, files_of
from framefleet.engine.model.registry.download import download
from framefleet.engine.notices import DownloadError
from tests.engine.cluster.test_relay import Node
from tests.support.faults.counts import short_and_long
from tests.support.faults.seeds import seeded
from tests.support.http import Page, Site

SCHEMES = ("file", "ftp", "gopher", "data", "jar", "javascript", "FILE", "ldap", "ws", "blob", "chrome", "about", "smb", "http+unix")


@short_and_long(20, 500)
def test_redirects_lead_to_web_servers_only(
    rounds: int, site: Site, entry: ModelEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloading, "PAUSE_SECONDS", 0.0)
    secret = tmp_path / "secret"
    secret.write_bytes(site.pages["/tiny.weights"].body)  # would pass every check
    choice, weights, taken = seeded(), site.pages["/tiny.weights"], 0
    for number in range(rounds):
        hops = [f"/hop{number}-{hop}" for hop in range(choice.randrange(1, 6))]
        last = choice.choice(
            (
                "/weights",
                f"{site.address}/weights",
                f"//{site.address.partition('//')[2]}/weights",
                *(f"{scheme}://{choice.choice(('', 'localhost', '127.0.0.1'))}{secret}" for scheme in choice.sample(SCHEMES, 6)),
                f"file:{secret}",
                f"\\t{choice.choice(SCHEMES)}:{secret}",
                f"{site.address}/../..{secret}",
            )
        )
        pages = dict.fromkeys(hops, weights) | {"/weights": weights, "/tiny.cfg": site.pages["/tiny.cfg"]}
        for here, there in zip(hops, [*hops[1:], last], strict=True):
            pages[here] = Page(redirect=there)
        site.pages = pages | {"/tiny.weights": Page(redirect=hops[0])}
        folder = tmp_path / str(number)
        good = last.endswith("/weights")
        if good:
            download(entry, folder)
            taken += 1
        else:
            with pytest.raises(DownloadError):
                download(entry, folder)
            assert not Path(files_of(entry, folder).weights).exists(), last
    print(f"{taken} of {rounds} downloaded, the others refused")


@short_and_long(10, 1000)
def test_nodes_get_contents_of_the_run_only(rounds: int, tmp_path: Path) -> None:
    choice, contents = seeded(), Contents()
    for name in ("video.mp4", "secret.txt", "model.cfg", "video.mp4.bak"):
        (tmp_path / name).write_bytes(name.encode() * 100)
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.mp4").symlink_to(tmp_path / "secret.txt")
    right = contents.source(tmp_path / "video.mp4")
    given = 0
    for _ in range(rounds):
        asked = choice.choice(
            (
                right,
                content_of(choice.choice([*tmp_path.iterdir()])) if choice.random() < 0.5 else content_of(Path("/etc/passwd"), whole=True),
                dataclasses.replace(right, path=tmp_path / choice.choice(("secret.txt", "folder/../secret.txt", "link.mp4", "."))),
                dataclasses.replace(right, digest=choice.choice(("", "00" * 64))),
                dataclasses.replace(right, stamp=None),
                Content(Path("/proc/self/environ"), right.stamp),
            )
        )
        node = Node(asked)
        relay = Relay("node", node, 30.0, contents, lambda: True)  # type: ignore[arg-type]
        if asked == right:
            assert node.finished.wait(30)
            assert node.received == {right.path: right.path.read_bytes()}
            node.ended.set()
            given += 1
        else:
            assert node.ended.wait(30), asked
        relay.close()
        assert asked == right or node.received == {}, asked
    print(f"{given} of {rounds} were contents of the run; the others ended the connection to the node")
