"""A network built by OpenVINO, in one part or in several parts of different precision, and the requests that run it."""

from collections.abc import Sequence

import numpy as np
import openvino as ov
from numpy.typing import NDArray

from framefleet.engine.model.network import Network, Yolo
from framefleet.engine.model.split import PICTURES, Part


class Engine:
    """The built parts of a network, in order."""

    def __init__(self, network: Network, parts: Sequence[tuple[Part, ov.CompiledModel]]) -> None:
        self.parts = parts
        self.heads = [index for index, layer in enumerate(network.layers) if isinstance(layer, Yolo)]

    @property
    def concurrent(self) -> int:
        """The number of requests that keep the device busy."""
        count: int = self.parts[0][1].get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS")
        return count


class Request:
    """One inference at a time: fill ``inputs``, ``run``, read ``heads``; the arrays stay the same.

    inputs: float32, the network's input. heads: raw outputs of the YOLO heads, float32 (batch, channels, rows, columns).
    """

    def __init__(self, engine: Engine) -> None:
        self._requests = [compiled.create_infer_request() for _, compiled in engine.parts]
        tensors: dict[int, ov.Tensor] = {}
        for (part, _), request in zip(engine.parts, self._requests, strict=True):
            for position, index in enumerate(part.inputs):
                if index in tensors:
                    request.set_input_tensor(position, tensors[index])
                else:
                    tensors[index] = request.get_input_tensor(position)
            tensors |= {index: request.get_output_tensor(position) for position, index in enumerate(part.outputs)}
        self.inputs: NDArray[np.float32] = tensors[PICTURES].data
        self.heads: list[NDArray[np.float32]] = [tensors[index].data for index in engine.heads]

    def run(self, parts: slice = slice(None)) -> None:
        """Infer, and wait for the raw outputs. parts: run only these parts, whose inputs are ready.

        Raises RuntimeError if OpenVINO failed.
        """
        for request in self._requests[parts]:
            request.start_async()
            request.wait()
