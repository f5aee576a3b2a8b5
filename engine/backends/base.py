"""The interface of every backend: a network built for one device, from pictures to detections; and what all backends share.

The public methods guard the state (activate once, then submit or infer, then close) and call ``_…_impl`` hooks.
One instance belongs to one worker. It is not thread-safe, except that any thread may await results.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.media.types import DeviceFrame
from framefleet.engine.model.network import Network
from framefleet.engine.model.onnx.network import Model
from framefleet.engine.model.split import Balance, StageTime
from framefleet.engine.notices import DeviceError, ModelError, Notice, Option
from framefleet.engine.settings import EngineSettings, Precision, Resize, check_depth
from framefleet.engine.types import Closing, Detections, DeviceId, EngineChoice, EngineInfo, Found, InferenceFailure, of_device
from framefleet.plugins.cache import FileCache

Progress: TypeAlias = Callable[[Notice, float], None]
"""Called with the current step and the fraction of it that is done, 0..1."""


class Backend(Closing, ABC):
    """A network built for one device, or cut into stages for several.

    decodes_on: the CUDA device whose memory may hold frames for ``submit``; None = frames must be in host memory.
    """

    decodes_on: DeviceId | None = None

    tuning: bool = False
    """Whether ``activate`` runs trials for what the settings leave open, and stores their outcomes in the file cache. Otherwise, it takes
    the outcomes of earlier trials, or the engine that is ready soonest. Set it before ``activate``."""

    examples: Callable[[], Iterable[Sequence[HostImage]]] = staticmethod(tuple)
    """Decodes a few frames of each of some videos, for trials on CPUs, and of ONNX files on all devices. Set it before ``activate``."""

    def __init__(self, device: DeviceId) -> None:
        self.device = device
        self._info: EngineInfo | None = None

    @property
    def info(self) -> EngineInfo:
        """The built engine. It may change during the work: an engine that runs out of memory continues with a smaller batch.

        Raises RuntimeError if it is not activated, or closed.
        """
        if self._info is None:
            raise RuntimeError(f"{type(self).__name__} is not active")
        return self._info

    def open(self, settings: EngineSettings) -> None:
        """Open the device before ``activate``, which does it otherwise: it takes a while, during which the network can be loaded.

        settings: those of ``activate``. Raises DeviceError if the device or library is missing.
        """

    def activate(self, network: Model, settings: EngineSettings, progress: Progress | None = None) -> EngineInfo:
        """Build the engine. progress: called during slow steps, also when the engine is built again later.

        Raises
        ------
        DeviceError
            The device or library is missing, or does not support the settings.
        ModelError
            The network cannot be built, or takes no colour pictures.
        RuntimeError
            Already active.
        """
        if self._info is not None:
            raise RuntimeError(f"{type(self).__name__} is already active")
        if network.channels != 3:
            raise ModelError(Notice("backends.no_colour_pictures", name=network.name, channels=network.channels))
        self._info = self._activate_impl(network, settings, progress)
        return self._info

    def submit(self, images: Sequence[HostImage | DeviceFrame], still: bool = False) -> Future[list[Found]]:
        """Start one inference of 1 to ``info.batch`` pictures of any size. Blocks while all slots are busy.

        still: the pictures are single images, not frames of a video (Darknet resizes the two differently).
        Pictures in host memory may be reused as soon as this returns. The backend releases pictures in the device's memory after the
        inference, but not if this or the future raises: the caller may submit them again. The future's result is one ``Detections`` per
        picture, boxes in that picture's pixels, or the reason why this picture has none. It raises an error that affects all pictures, or
        whose picture is unknown.
        """
        if not 1 <= len(images) <= self.info.batch:
            raise ValueError(f"{len(images)} pictures for an engine of batch {self.info.batch}")
        return self._submit_impl(images, still)

    def infer(self, images: Sequence[HostImage | DeviceFrame], still: bool = False) -> list[Detections]:
        """Submit pictures and wait for their detections. Parameters: see ``submit``. Raises DeviceError if a picture has no detections."""
        found = self.submit(images, still).result()
        for failure in found:
            if isinstance(failure, InferenceFailure):
                raise DeviceError(of_device(self.device, failure.reason))
        return [each for each in found if isinstance(each, Detections)]

    def timings(self) -> Mapping[str, float]:
        """ms that the device spent in each stage since the last call, by its own clock; empty if it has none. From any thread.

        Stages: "decode", "upload", "preprocess", "network", "postprocess", which includes the copy of the results to the host. Work that
        runs n times at once counts 1/n, so that frames ÷ time is the rate that the stage alone would allow.
        """
        return {}

    def raw_outputs(self, inputs: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        """Outputs of the YOLO heads before decoding, float32, for float32 (n, channels, height, width), 0..1. For checks: slow.

        Raises DeviceError if the engine runs in another process, or failed.
        """
        if self._info is None:
            raise RuntimeError(f"{type(self).__name__} is not active")
        return self._raw_outputs_impl(inputs)

    def close(self) -> None:
        """Wait for the inferences under way and release the device; harmless when repeated."""
        if self._info is not None:
            self._info = None
            self._close_impl()

    @abstractmethod
    def _activate_impl(self, network: Model, settings: EngineSettings, progress: Progress | None) -> EngineInfo: ...

    @abstractmethod
    def _submit_impl(self, images: Sequence[Any], still: bool) -> Future[list[Found]]: ...

    def _raw_outputs_impl(self, inputs: NDArray[np.float32]) -> list[NDArray[np.float32]]:  # noqa: ARG002
        raise DeviceError(of_device(self.device, Notice("backends.raw_outputs_elsewhere")))

    @abstractmethod
    def _close_impl(self) -> None: ...


def reasons(*parts: Notice | None) -> Notice:
    """Why an engine is built as it is: the parts that are known, for ``EngineInfo.reason``."""
    known: list[Notice] = []
    for part in filter(None, parts):
        known += part.fields["parts"] if part.code == "backends.reasons" else (part,)
    return known[0] if len(known) == 1 else Notice("backends.reasons", parts=tuple(known))


def earlier_choice(settings: EngineSettings, device_name: str) -> EngineChoice | None:
    """What the run that this one continues chose for a device of this name; None if it had none, or there is no earlier run."""
    known = (choice for choice in settings.earlier if choice.device_name == device_name and choice.precision in {*Precision})
    return next(known, None)


def darknet(network: Model, device: DeviceId) -> Network:
    """Return the network, if it is one of Darknet's files.

    Raises DeviceError for an ONNX file.
    """
    if not isinstance(network, Network):
        raise DeviceError(of_device(device, Notice("backends.onnx_no_stages", name=network.name, option=Option("parallel", "segments"))))
    return network


def letterboxes(network: Model, settings: EngineSettings) -> bool:
    """Whether pictures keep their aspect ratio in the network's input, instead of being stretched."""
    return network.letter_box if settings.resize is Resize.AUTO else settings.resize is Resize.LETTERBOX


def depth_members(device: DeviceId) -> tuple[DeviceId, ...]:
    """The devices of a group, one for each stage. Raises UsageError: see ``check_depth``."""
    check_depth(device.members)
    return device.members


def joined_names(names: Sequence[str]) -> str:
    """The devices' names as one: "2 × NVIDIA H200"."""
    return " + ".join(f"{count} × {name}" if count > 1 else name for name, count in Counter(names).items())


def remembered_balance(key: str, find: Callable[[], Balance]) -> Balance:
    """Read the cuts from the cache, or find and store them. key: everything that they depend on."""
    known = FileCache().remember(f"{key}\nstages", lambda: asdict(find()))
    return Balance(tuple(known["cuts"]), tuple(StageTime(**time) for time in known["times"]))


def describe_balance(balance: Balance, network: Network, how: Notice) -> Notice:
    """Describe the cuts, the evenness of the stages, and how values move between them."""
    return Notice(
        "backends.stages",
        stages=len(balance.times),
        count=len(balance.cuts),
        cuts=balance.cuts,
        layers=len(network.layers),
        times=" + ".join(f"{time.computing:.3g}" for time in balance.times),
        evenness=balance.evenness,
        how=how,
    )
