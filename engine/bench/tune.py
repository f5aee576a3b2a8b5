"""Tunes engines: trials on a device find its fastest engine, which later runs take from the file cache."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from framefleet.engine.backends.create import create_backend
from framefleet.engine.bench.model import noise_pictures, throughput
from framefleet.engine.media.probe import examples
from framefleet.engine.model.load import load_network
from framefleet.engine.model.network import Network
from framefleet.engine.notices import Notice
from framefleet.engine.settings import EngineSettings, ModelFiles
from framefleet.engine.types import DeviceId, EngineInfo

_EXAMPLES = 16
"""Most frames of a video that precisions are tried on: YOLOv4-416 takes 0.6 s for each on two cores."""

_SECONDS = 1.0
"""How long the throughput is measured, before and after."""


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
    progress: Callable[[DeviceId, Notice, float], None],
) -> Iterator[Tuned]:
    """Tune the engine of each device, one after the other. Yields each result as soon as the device is tuned.

    Parameters
    ----------
    files : ModelFiles
        The model.
    devices : sequence of DeviceId
        The devices.
    settings : EngineSettings
        Those of the runs that will use the engines. What they leave open is tuned.
    videos : sequence of Path
        CPUs compare the boxes in frames of these.
    progress : callable
        Called with the device, the current step, and the fraction of it that is done, 0..1.

    Raises
    ------
    ModelError
        The model cannot be used.
    DeviceError
        A device is missing or does not support a setting.
    """
    network = load_network(files)
    for device in devices:
        tell = partial(progress, device)
        before, images_before = _measure(network, device, settings, None, tell)
        after, images_after = _measure(network, device, settings, videos, tell)
        yield Tuned(before, after, images_before, images_after)


def _measure(
    network: Network, device: DeviceId, settings: EngineSettings, videos: Sequence[Path] | None, progress: Callable[[Notice, float], None]
) -> tuple[EngineInfo, float]:
    """Build an engine. Returns it, and its images/s. videos: of the trials, None = no trials."""
    with create_backend(device) as backend:
        if videos is not None:
            backend.tuning, backend.examples = True, partial(examples, videos, _EXAMPLES)
        engine = backend.activate(network, settings, progress)
        return engine, throughput(backend, noise_pictures(network, engine.batch), _SECONDS)
