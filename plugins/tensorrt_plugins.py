"""Mish inside the engines of a full TensorRT (10.8 and newer): quick-deployable plugins, ahead of time.

The kernels of ``kernels/mish.cu`` go into the plan as PTX, so that a plan runs without Python. **Never run by us**: no machine of ours
has a full TensorRT, and TensorRT-RTX takes no Python plugins. What is tested is what goes in: that the kernels' parameters are those
TensorRT passes, their launches, and that the registration holds to the documented rules. PTX needs a driver as new as NVRTC.

Preprocessing, YOLO layer and suppression have no plugin: they run before and behind the plan on the same stream, with either library.

API: https://docs.nvidia.com/deeplearning/tensorrt/latest/_static/python-api/pluginGuide.html
"""

# ruff: noqa: ARG001 (TensorRT wants these parameters, by these names)
# without "from __future__ import annotations": TensorRT looks at the annotations themselves

from functools import cache
from typing import Any

from plugins.errors import KernelError
from plugins.kernels import compile_ptx, source
from plugins.mish import PER_THREAD, THREADS

NAMESPACE = "framefleet"


def register(arch: str) -> None:
    """Make ``add_mish`` and ``add_bias_mish`` possible. arch: such as "sm_90", the device's. Once in a process.

    Raises:
        KernelError: this TensorRT is too old, or the kernels cannot be compiled.
    """
    import tensorrt.plugin as trtp

    if not hasattr(trtp, "aot_impl"):
        raise KernelError("this TensorRT takes no plugins compiled ahead of time: pip install 'tensorrt>=10.8'")
    ptx = mish_ptx(arch)

    def launch_of(name: bytes, out: Any, *more: Any) -> tuple[bytes, bytes, Any, Any]:
        count = out.shape_expr.numel()
        launch = trtp.KernelLaunchParams()
        launch.grid_x, launch.block_x = trtp.cdiv(count, THREADS * PER_THREAD), THREADS
        arguments = trtp.SymIntExprs.from_tuple([trtp.SymInt32(value) for value in (count, *more)])
        return name, ptx, launch, arguments

    result = tuple[bytes, bytes, trtp.KernelLaunchParams, trtp.SymIntExprs]

    @trtp.register(f"{NAMESPACE}::mish")  # type: ignore[untyped-decorator, unused-ignore]
    def describe_mish(values: trtp.TensorDesc) -> trtp.TensorDesc:
        return values.like()

    @trtp.autotune(f"{NAMESPACE}::mish")  # type: ignore[untyped-decorator, unused-ignore]
    def formats_of_mish(values, outputs):  # type: ignore[no-untyped-def]
        # pixels of eight channels and more have no padding between them, if it is whole eights
        whole = values.ndim == 4 and values.shape[1] > 0 and values.shape[1] % 8 == 0
        return [trtp.AutoTuneCombination("FP16, FP16", layout) for layout in ("LINEAR", "HWC8")[: 1 + whole]]

    @trtp.aot_impl(f"{NAMESPACE}::mish")  # type: ignore[untyped-decorator, unused-ignore]
    def launch_mish(values, outputs, tactic) -> result:  # type: ignore[no-untyped-def]
        return launch_of(b"mish", outputs[0])

    @trtp.register(f"{NAMESPACE}::bias_mish")  # type: ignore[untyped-decorator, unused-ignore]
    def describe_bias_mish(values: trtp.TensorDesc, bias: trtp.TensorDesc) -> trtp.TensorDesc:
        return values.like()

    @trtp.autotune(f"{NAMESPACE}::bias_mish")  # type: ignore[untyped-decorator, unused-ignore]
    def formats_of_bias_mish(values, bias, outputs):  # type: ignore[no-untyped-def]
        return [trtp.AutoTuneCombination("FP16, FP32, FP16", "LINEAR")]

    @trtp.aot_impl(f"{NAMESPACE}::bias_mish")  # type: ignore[untyped-decorator, unused-ignore]
    def launch_bias_mish(values, bias, outputs, tactic) -> result:  # type: ignore[no-untyped-def]
        shape = outputs[0].shape_expr
        return launch_of(b"bias_mish", outputs[0], shape[1], shape[2] * shape[3])


def add_mish(network: Any, values: Any) -> Any:
    """The Mish of an FP16 tensor of a ``tensorrt.INetworkDefinition``."""
    import tensorrt.plugin as trtp

    return network.add_plugin(getattr(trtp.op, NAMESPACE).mish(values), aot=True).get_output(0)


def add_bias_mish(network: Any, values: Any, bias: Any) -> Any:
    """The Mish of an FP16 tensor (batch, channels, rows, columns) plus an FP32 tensor (channels,)."""
    import tensorrt.plugin as trtp

    return network.add_plugin(getattr(trtp.op, NAMESPACE).bias_mish(values, bias), aot=True).get_output(0)


@cache
def mish_ptx(arch: str) -> bytes:
    """Both kernels. Their parameters are what TensorRT passes: addresses of inputs, then numbers (int32), then addresses of outputs.

    Raises:
        KernelError: the kernels cannot be compiled.
    """
    return compile_ptx(source("half.cuh", "mish.cu"), arch)
