"""Tunes engines: trials on a device find its fastest engine, which later runs take from the file cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeAlias

from framefleet.engine.backends.create import create_backend
from framefleet.engine.bench.model import noise_pictures, throughput
from framefleet.engine.devices.discovery import default_devices
from framefleet.engine.model.load import load_model
from framefleet.engine.model.onnx.network import Model
from framefleet.engine.notices import DeviceError, FramefleetError, Notice
from framefleet.engine.processes import child
from framefleet.engine.processes.outcome import Failed
from framefleet.engine.settings import EngineSettings, ModelFiles
from framefleet.engine.types import DeviceId, EngineInfo

EXAMPLES = 16
"""Most frames of a video that precisions are tried on: YOLOv4-416 takes 0.6 s for each on two cores."""

SECONDS = 1.0
"""How long the throughput is measured, before and after."""


Progress: TypeAlias = Callable[[DeviceId, Notice, float], None]
"""Called with the device, the current step, and the fraction of it that is done, 0..1."""


@dataclass(frozen=True)
class Tuned:
    """What tuning has found for a device.

    Parameters
    ----------
    before, after : EngineInfo
        The engine that runs had until now, and the one that they have from now on.
    images_before, images_after : float
        Images/s of both, with all their slots busy.
    """

    before: EngineInfo
    after: EngineInfo
    images_before: float
    images_after: float


def tune(
    files: ModelFiles,
    devices: Sequence[DeviceId],
    settings: EngineSettings,
    videos: Sequence[Path],
    progress: Progress,
) -> Iterator[Tuned]:
    """Tune the engine of each device, one after the other. Yields each result as soon as the device is tuned.

    Parameters
    ----------
    files : ModelFiles
        The model.
    devices : sequence of DeviceId
        The devices; none = the best available ones.
    settings : EngineSettings
        Those of the runs that will use the engines. What they leave open is tuned.
    videos : sequence of Path
        CPUs compare the boxes in frames of these.
    progress : Progress
        Called during slow steps.

    Raises
    ------
    ModelError
        The model cannot be used.
    DeviceError
        A device is missing or does not support a setting.
    """
    network = load_model(files)
    for device in devices or default_devices():
        tell = partial(progress, device)
        before, images_before = _measure(network, device, settings, None, tell)
        after, images_after = _measure(network, device, settings, videos, tell)
        yield Tuned(before, after, images_before, images_after)


def _measure(
    network: Model, device: DeviceId, settings: EngineSettings, videos: Sequence[Path] | None, progress: Callable[[Notice, float], None]
) -> tuple[EngineInfo, float]:
    """Build an engine. Returns it, and its images/s. videos: of the trials, None = no trials."""
    with create_backend(device) as backend:
        if videos is not None:
            from framefleet.engine.media.probe import examples

            backend.tuning, backend.examples = True, partial(examples, videos, EXAMPLES)
        engine = backend.activate(network, settings, progress)
        return engine, throughput(backend, noise_pictures(network, engine.batch), SECONDS)


class TuningProcess:
    """``tune`` in a process of its own, for programs that load none of the devices' libraries. The process starts at once.

    Parameters: see ``tune``.
    """

    def __init__(self, files: ModelFiles, devices: Sequence[DeviceId], settings: EngineSettings, videos: Sequence[Path]) -> None:
        self._process = child.ChildProcess("tuning", _main, files, devices, settings, videos, words=Notice("bench.tunes"), quiet=True)

    def results(self, progress: Progress) -> list[Tuned]:
        """Wait for the results of all devices. Errors: see ``tune``; DeviceError also if the process dies or is killed."""
        found: list[Tuned] = []
        try:
            for message in self._process.messages():
                if isinstance(message, Tuned):
                    found.append(message)
                else:
                    progress(*message)
        finally:
            outcome = self._process.end()
        if outcome.exit_message is not None or outcome.exit_code:
            raise DeviceError(outcome.reason)
        return found

    def kill(self) -> None:
        """Kill the process, from any thread; harmless if it has ended."""
        self._process.kill()


def _main(
    connection: Connection[Any, Any], files: ModelFiles, devices: Sequence[DeviceId], settings: EngineSettings, videos: Sequence[Path]
) -> None:
    def tell(*step: Any) -> None:
        connection.send(step)

    try:
        for found in tune(files, devices, settings, videos, tell):
            connection.send(found)
    except FramefleetError as problem:
        connection.send(Failed(problem.notice, retry=False))
