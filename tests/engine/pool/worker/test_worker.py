"""A worker in a thread of this process, with a real engine: what it leaves behind when it has ended."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator
from multiprocessing import Pipe
from pathlib import Path

import pytest

from framefleet.engine import backends
from framefleet.engine.backends.base import Backend
from framefleet.engine.media.probe import probe
from framefleet.engine.pool.protocol import Detect, Done, Need, Setup, Stop, Stopped
from framefleet.engine.pool.worker import worker
from framefleet.engine.settings import Isolation
from framefleet.engine.types import DeviceId
from tests.support.media import make_video
from tests.support.pool import CPUS, small_settings


@pytest.fixture
def _no_collection() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("_no_collection")
def test_an_engine_is_freed_in_the_thread_that_built_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The garbage collector would free it in any thread, maybe one that uses another GPU."""
    create, freed_in = backends.create_backend, []

    def create_watched(device: DeviceId) -> Backend:
        backend = create(device)
        weakref.finalize(backend, lambda: freed_in.append(threading.current_thread().name))
        return backend

    monkeypatch.setattr(backends, "create_backend", create_watched)
    settings = small_settings(isolation=Isolation.THREAD, batch=4)
    ours, theirs = Pipe()
    thread = threading.Thread(
        target=worker.main, args=(theirs, Setup(CPUS[0], settings.model, settings.engine, isolation=Isolation.THREAD)), name="builder"
    )
    thread.start()
    info = probe(make_video(tmp_path / "video.mp4", 60, (160, 120)))
    with ours:
        while not isinstance(ours.recv(), Need):
            pass
        ours.send(Detect(0, info, info.segments[0]))
        while not isinstance(ours.recv(), Done):
            pass
        ours.send(Stop())
        while not isinstance(ours.recv(), Stopped):
            pass
        thread.join()
        assert freed_in == ["builder"]
