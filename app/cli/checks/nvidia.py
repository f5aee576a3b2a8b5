"""The doctor's checks of what NVIDIA GPUs need: driver, CUDA, its compiler, TensorRT, the video decoder."""

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from framefleet.app.cli.checks.check import Check, Status, try_python

EXTRAS = "pip install 'framefleet[tensorrt]' or 'framefleet[rtx]'"
DRIVER = "install NVIDIA's driver 580 or newer (Debian and Ubuntu: sudo apt-get install nvidia-driver-580), then restart the machine"
PCI = Path("/sys/bus/pci/devices")
LOADED = Path("/proc/driver/nvidia/version")

_NVML = """
from framefleet.engine.devices.nvml.driver import Nvml
nvml = Nvml()
assert nvml.cuda is None or nvml.cuda >= (13, 0), f"{nvml.driver} speaks CUDA {nvml.cuda[0]}.{nvml.cuda[1]}, 13.0 is needed"
print(f"{nvml.driver}, CUDA {'.'.join(map(str, nvml.cuda or ()))}, {len(nvml.gpus())} GPU(s)")
"""
_CUDA = """
from importlib.metadata import version
from framefleet.engine.devices.cuda import cuda_devices
found = cuda_devices()
assert found, "CUDA shows no device: see CUDA_VISIBLE_DEVICES and nvidia-smi"
print(f"cuda-core {version('cuda-core')}, cuda-bindings {version('cuda-bindings')}, {len(found)} device(s)")
"""
_NVRTC = """
from cuda.bindings import nvrtc
from framefleet.engine.devices.cuda import cuda_devices
from framefleet.plugins.kernels import compile_source, source
architectures = sorted({"sm_%d%d" % device.compute_capability for device in cuda_devices()})
for architecture in architectures:
    compile_source(source("half.cuh", "mish.cu"), architecture)
print("%d.%d" % nvrtc.nvrtcVersion()[1:], "compiles for", ", ".join(architectures))
"""
_TENSORRT = """
from framefleet.engine.backends.tensorrt.library import find_library
from framefleet.engine.devices.cuda import cuda_devices
print(", ".join(sorted({str(find_library(device.compute_capability)) for device in cuda_devices()})))
"""
_CUDNN = """
from importlib.util import find_spec
from framefleet.engine.backends.cudnn.library import find_cudnn
from framefleet.engine.devices.cuda import cuda_devices
found = sorted({str(find_cudnn(device.compute_capability)) for device in cuda_devices()}) if find_spec("cudnn") else []
print(", ".join(found) or "not installed, not needed")
"""
_NVDEC = """
import ctypes, sys
from importlib.metadata import version
ctypes.CDLL("nvcuvid.dll" if sys.platform == "win32" else "libnvcuvid.so.1")
import PyNvVideoCodec
print(f"PyNvVideoCodec {version('PyNvVideoCodec')}")
"""
_PARTS = (
    ("CUDA", _CUDA, EXTRAS),
    ("NVRTC", _NVRTC, "pip install 'nvidia-cuda-nvrtc>=13,<14' 'nvidia-cuda-runtime>=13,<14'"),
    ("TensorRT", _TENSORRT, f"{EXTRAS} (the latter for GeForce and RTX cards)"),
    ("cuDNN", _CUDNN, "TensorRT computes all networks; for more speed: pip install -U 'framefleet[cudnn]'"),
    (
        "NVDEC",
        _NVDEC,
        "videos are decoded by the CPU: pip install PyNvVideoCodec, and install the driver's libnvcuvid (Debian and Ubuntu:"
        " libnvidia-decode-580; in a container: NVIDIA_DRIVER_CAPABILITIES=compute,utility,video)",
    ),
)


def check_nvidia(pci: Path = PCI, loaded: Path = LOADED, attempt: Callable[[str], tuple[str, str | None]] = try_python) -> Iterator[Check]:
    """Check the parts in order, until one fails that the others need. The worst finding is a warning, since the CPU works.

    pci, loaded: where Linux lists devices and the driver. attempt: runs code in another process.
    """
    found, error = attempt(_NVML)
    if error is not None and "NoNvmlError" in error and not loaded.exists():
        if has_gpu(pci):
            yield Check("NVIDIA driver", Status.WARNING, "there is an NVIDIA GPU, but no driver", DRIVER)
        else:
            yield Check("NVIDIA driver", Status.OK, "none, and no NVIDIA GPU is found")
        return
    if error is not None:
        remedy = EXTRAS if "NoNvmlError" in error else DRIVER
        yield Check("NVIDIA driver", Status.WARNING, _words(error), remedy)
        return
    yield Check("NVIDIA driver", Status.OK, found)
    for name, code, remedy in _PARTS:
        found, error = attempt(code)
        if error is None:
            yield Check(name, Status.OK, found)
            continue
        yield Check(name, Status.WARNING, _words(error), remedy)
        if name == "CUDA":
            return


def has_gpu(pci: Path = PCI) -> bool:
    """Whether the PCI bus has a graphics or compute device of NVIDIA. Known on Linux only."""
    if sys.platform.startswith("linux"):
        with suppress(OSError):
            for device in pci.iterdir():
                with suppress(OSError):
                    if (device / "vendor").read_text().strip() == "0x10de" and (device / "class").read_text().startswith("0x03"):
                        return True
    return False


def _words(error: str) -> str:
    """The message of an exception's last line, ``module.Name: message``."""
    name, colon, words = error.partition(": ")
    return words if colon and " " not in name else error
