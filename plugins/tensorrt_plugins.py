"""The kernels inside the engines of a full TensorRT (10.8 and newer): quick-deployable plugins, ahead of time. Here: Mish.

They go into the plan as PTX, so that a plan runs without Python. **Never run by us**: no machine of ours has a full TensorRT, and
TensorRT-RTX takes no Python plugins. What is tested is what goes in: that the kernels' parameters are those TensorRT passes, their
launches, their results when compiled for a CPU, and that the registration holds to the documented rules. PTX needs a driver as new
as NVRTC.

The rest of a detector, from decoded surfaces to detections: ``plugins/tensorrt_plugins_detection.py``.

API: https://docs.nvidia.com/deeplearning/tensorrt/latest/_static/python-api/pluginGuide.html
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from inspect import Parameter, Signature
from types import GenericAlias
from typing import Any

from plugins.errors import KernelError
from plugins.kernels import compile_ptx, source
from plugins.mish import PER_THREAD, THREADS

NAMESPACE = "framefleet"

Size = tuple[Any, Any, Any]
"""x, y and z of a grid or a block: numbers, or TensorRT's symbols for them."""


def register(arch: str) -> None:
    """Make ``add_mish`` and ``add_bias_mish`` possible. arch: such as "sm_90", the device's. The first call of a process counts.

    Raises:
        KernelError: this TensorRT is too old, or the kernels cannot be compiled.
    """
    if is_registered("mish"):
        return
    import tensorrt.plugin as trtp

    ptx = mish_ptx(arch)

    def blocks(count: Any) -> Size:
        return trtp.cdiv(count, THREADS * PER_THREAD), 1, 1

    def formats_of_mish(values: Any, _outputs: Any) -> list[Any]:
        # pixels of eight channels and more have no padding between them, if it is whole eights
        whole = values.ndim == 4 and values.shape[1] > 0 and values.shape[1] % 8 == 0
        return [trtp.AutoTuneCombination("FP16, FP16", layout) for layout in ("LINEAR", "HWC8")[: 1 + whole]]

    def launch_mish(_values: Any, outputs: Any, _tactic: int) -> Any:
        count = outputs[0].shape_expr.numel()
        return launch("mish", ptx, blocks(count), (THREADS, 1, 1), [count])

    def launch_bias_mish(_values: Any, _bias: Any, outputs: Any, _tactic: int) -> Any:
        shape = outputs[0].shape_expr
        return launch("bias_mish", ptx, blocks(shape.numel()), (THREADS, 1, 1), [shape.numel(), shape[1], shape[2] * shape[3]])

    register_plugin("mish", ["values"], 1, lambda values: values.like(), launch_mish, formats_of_mish)
    register_plugin("bias_mish", ["values", "bias"], 1, lambda values, _bias: values.like(), launch_bias_mish)


def add_mish(network: Any, values: Any) -> Any:
    """The Mish of an FP16 tensor of a ``tensorrt.INetworkDefinition``."""
    return add_plugin(network, "mish", values)[0]


def add_bias_mish(network: Any, values: Any, bias: Any) -> Any:
    """The Mish of an FP16 tensor (batch, channels, rows, columns) plus an FP32 tensor (channels,)."""
    return add_plugin(network, "bias_mish", values, bias)[0]


@cache
def mish_ptx(arch: str) -> bytes:
    """Both kernels. Their parameters are what TensorRT passes: addresses of inputs, then numbers (int32), then addresses of outputs.

    Raises:
        KernelError: the kernels cannot be compiled.
    """
    return compile_ptx(source("half.cuh", "mish.cu"), arch)


def is_registered(name: str) -> bool:
    """Whether this process knows a plugin of ours by this name.

    Raises:
        KernelError: this TensorRT is too old.
    """
    import tensorrt.plugin as trtp

    if not hasattr(trtp, "aot_impl"):
        raise KernelError("this TensorRT takes no plugins compiled ahead of time: pip install 'tensorrt>=10.8'")
    return hasattr(getattr(trtp.op, NAMESPACE, None), name)


def register_plugin(
    name: str,
    inputs: Sequence[str],
    outputs: int,
    describe: Callable[..., Any],
    launch_with: Callable[..., Any],
    formats: Callable[..., Any] | None = None,
) -> None:
    """One kernel as a plugin. inputs: their names. outputs: how many there are.

    describe: gives the descriptor of each output for those of the inputs. launch_with: gives ``launch`` for inputs, outputs and a tactic.
    formats: gives types and layouts for inputs and outputs; None = the types described, every tensor row by row.
    """
    import tensorrt.plugin as trtp

    plugin_id, described = f"{NAMESPACE}::{name}", trtp.TensorDesc
    # TensorRT reads the number of inputs and outputs off the functions' signatures
    tensors = dict.fromkeys(inputs, described)
    all_outputs = described if outputs == 1 else GenericAlias(tuple, (described,) * outputs)
    result = GenericAlias(tuple, (bytes, bytes, trtp.KernelLaunchParams, trtp.SymIntExprs))
    unsaid = {"outputs": Parameter.empty}
    trtp.register(plugin_id)(_signed(describe, tensors, all_outputs))
    if formats is not None:
        trtp.autotune(plugin_id)(_signed(formats, tensors | unsaid, Signature.empty))
    trtp.aot_impl(plugin_id)(_signed(launch_with, tensors | unsaid | {"tactic": int}, result))


def launch(kernel: str, ptx: bytes, grid: Size, block: Size, numbers: Sequence[Any], shared_bytes: int = 0) -> Any:
    """A launch as TensorRT wants it told. numbers: what the kernel gets as int32 between the addresses of inputs and outputs."""
    import tensorrt.plugin as trtp

    arguments = trtp.SymIntExprs.from_tuple([trtp.SymInt32(number) for number in numbers])
    return kernel.encode(), ptx, trtp.KernelLaunchParams(*grid, *block, shared_bytes), arguments


def add_plugin(network: Any, name: str, *inputs: Any) -> list[Any]:
    """Put a registered plugin behind these tensors of a network; its outputs."""
    import tensorrt.plugin as trtp

    layer = network.add_plugin(getattr(getattr(trtp.op, NAMESPACE), name)(*inputs), aot=True)
    return [layer.get_output(index) for index in range(layer.num_outputs)]


def _signed(function: Callable[..., Any], parameters: dict[str, Any], returns: Any) -> Callable[..., Any]:
    """The function, seen with this signature."""

    def call(*arguments: Any) -> Any:
        return function(*arguments)

    signed = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, annotation=kind) for name, kind in parameters.items()]
    call.__signature__ = Signature(signed, return_annotation=returns)  # type: ignore[attr-defined]
    return call
