"""A whole detector as one plan of a full TensorRT, for programs that embed it: surfaces in, detections out, and no Python. Never run by us.

Our own engine does not use it: see ``plugins/tensorrt_plugins_detection.py``.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from engine.backends.tensorrt.library import Library, logger
from engine.backends.tensorrt.lowering import Lowering
from engine.errors import DeviceError
from engine.model.network import Network
from engine.model.split import split
from engine.settings import EngineSettings
from plugins.tensorrt_plugins_detection import Detector, add_detection, add_preprocess
from plugins.yolo_layer import Head


def build_detector(
    library: Library, network: Network, batch: int, frame: NDArray[Any], rows: int, pitch: int, settings: EngineSettings, arch: str
) -> bytes:
    """The serialized engine for the current device, FP16, of one input and two outputs.

    frame: of ``plugins.preprocess.describe_frame``, the same for all pictures; ``settings`` gives thresholds and classes. surfaces: INT32
    (batch, rows, pitch / 4), see ``add_preprocess``; pitch: bytes, a multiple of 4. counts, records: see ``add_detection``. arch:
    such as "sm_90", the device's.

    Raises:
        DeviceError: this library takes no plugins, or cannot build the network.
        ValueError: the network is none for the kernels, or frames do not fit into surfaces.
        ModelError: a weight is too large for FP16.
        KernelError: the kernels cannot be compiled.
    """
    if not library.full:
        raise DeviceError(
            f"{library} takes no plugins; a plan of a whole detector needs the full TensorRT: pip install 'framefleet[tensorrt]'"
        )
    if pitch % 4:
        raise ValueError(f"a pitch of {pitch} bytes: it has to be a multiple of 4")
    trt = library.trt
    builder = trt.Builder(logger(trt))
    # the flag is the default, and gone, in versions that know nothing else
    strongly_typed = getattr(trt.NetworkDefinitionCreationFlag, "STRONGLY_TYPED", None)
    definition = builder.create_network(0 if strongly_typed is None else 1 << int(strongly_typed))
    detector = Detector(
        [Head(0, *layer.shape[1:], layer.anchors, layer.scale_x_y, layer.new_coords) for layer in network.heads],
        network.classes,
        (network.width, network.height),
        frame,
        settings.confidence,
        settings.iou,
        network.heads[-1].diou_beta,
        settings.classes,
    )
    surfaces = definition.add_input("surfaces", trt.int32, (batch, rows, pitch // 4))
    middle = _Middle(definition, add_preprocess(definition, surfaces, detector, arch))
    lowering = Lowering(trt, middle, batch)  # holds the weights until the plan is built
    lowering.write(network, split(network)[0])
    for name, value in zip(("counts", "records"), add_detection(definition, middle.heads, detector, arch), strict=True):
        value.name = name
        definition.mark_output(value)
    try:
        plan = builder.build_serialized_network(definition, builder.create_builder_config())
    except RuntimeError as problem:
        raise DeviceError(f"{library} cannot build {network.name}: {problem}") from problem
    if plan is None:
        raise DeviceError(f"{library} cannot build {network.name} for this device; what it printed before tells why")
    return bytes(plan)


class _Middle:
    """A network definition to whoever writes into it; but its input is a tensor that is there, and its outputs go on to others."""

    def __init__(self, definition: Any, pictures: Any) -> None:
        self._definition, self._pictures = definition, pictures
        self.heads: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._definition, name)

    def add_input(self, _name: str, _kind: Any, _shape: tuple[int, ...]) -> Any:
        return self._pictures

    def mark_output(self, value: Any) -> None:
        self.heads.append(value)
