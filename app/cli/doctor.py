"""``framefleet doctor``: checks this machine, and says how to solve the problems that it finds.

Libraries are tried in another interpreter, so that a crash is a finding.
"""

import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path

from platformdirs import user_log_path

from framefleet.app.cli.options import make_parser
from framefleet.app.display import PACKAGES, install_command, missing_libraries
from framefleet.engine.devices import affinity, discovery, host_memory
from framefleet.engine.notices import DeviceError, install_extra
from framefleet.engine.settings.folders import Folder


class Status(StrEnum):
    """How serious a finding is. WARNING: something is slow, or the window does not work. PROBLEM: detection cannot work."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True)
class Check:
    """One finding. remedy: what to do, None = nothing."""

    name: str
    status: Status
    detail: str
    remedy: str | None = None


SECONDS = 60


def try_python(code: str, environment: Mapping[str, str] | None = None) -> tuple[str, str | None]:
    """Run code. Returns its output, and why it failed (None = it succeeded)."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "", f"no answer within {SECONDS} s"
    except OSError as error:
        return "", str(error)
    if done.returncode == 0:
        return done.stdout.strip(), None
    last = done.stderr.strip().splitlines()[-1:] or [""]
    if done.returncode < 0:
        return "", f"it crashes ({signal.Signals(-done.returncode).name}) {last[0]}".strip()
    return "", last[0]


GIB = 1 << 30
FEATURES = {
    "avx2": "AVX2",
    "avx512f": "AVX-512",
    "avx512_vnni": "VNNI",
    "avx512_bf16": "bf16",
    "avx512_fp16": "fp16",
    "amx_bf16": "AMX bf16",
}


def check_system() -> Iterator[Check]:
    """Check the machine itself."""
    # an older Python cannot start the program
    yield Check("Python", Status.OK, f"{platform.python_version()} ({sys.executable}), {platform.system()} {platform.machine()}")
    yield _processor()
    yield _memory()
    for folder in Folder:
        yield check_folder(f"{folder} folder", folder.path)
    yield check_folder("log folder", user_log_path("framefleet", appauthor=False))
    yield check_folder("temporary folder", Path(tempfile.gettempdir()))
    yield from _shared_memory()


def _processor() -> Check:
    facts = processor_facts()
    if not facts:
        return Check("processor", Status.OK, f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores")
    flags = facts.get("flags", "").split()
    has = [label for flag, label in FEATURES.items() if flag in flags]
    extensions = ", ".join(has) or "no vector extensions"
    detail = f"{facts.get('model name', platform.machine())}, {affinity.usable_cores()} of {os.cpu_count()} cores usable, {extensions}"
    if platform.machine() == "x86_64" and "avx2" not in flags:
        return Check(
            "processor", Status.WARNING, detail, "without AVX2 detection is slow: in a virtual machine, pass the host's processor through"
        )
    return Check("processor", Status.OK, detail)


def processor_facts() -> dict[str, str]:
    """What Linux says about the processor, by its own keys; empty on other systems."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return {}
    return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}


def _memory() -> Check:
    memory = host_memory.read_host_memory()
    if memory is None:
        return Check("memory", Status.OK, "unknown on this system")
    detail = f"{memory.available / GIB:.1f} GiB available of {memory.total / GIB:.1f} GiB"
    if memory.total < memory.machine:
        detail += f", to which this container is limited; the machine has {memory.machine / GIB:.1f} GiB"
    if memory.available < 1.5 * GIB:
        return Check(
            "memory",
            Status.WARNING,
            detail,
            "YOLOv4 needs about 1.5 GiB a device: close other programs, or use one device and a small model",
        )
    return Check("memory", Status.OK, detail)


def check_folder(name: str, path: Path) -> Check:
    """Check that a folder exists or can be made, and can be written."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path) as file:
            file.write(b"framefleet")
            file.flush()
        free = shutil.disk_usage(path).free
    except OSError as error:
        remedy = f"make {path} writable (chown, chmod), or free some space"
        return Check(name, Status.WARNING, f"{path} cannot be written: {error.strerror}", remedy)
    detail = f"{path}, {free / GIB:.1f} GiB free"
    return Check(name, Status.WARNING, detail, "free some space") if free < GIB else Check(name, Status.OK, detail)


def _shared_memory() -> Iterator[Check]:
    if not sys.platform.startswith("linux"):
        return
    try:
        usage = shutil.disk_usage("/dev/shm")
    except OSError:
        yield Check("shared memory", Status.WARNING, "there is no /dev/shm", "mount it: mount -t tmpfs tmpfs /dev/shm")
        return
    detail = f"/dev/shm, {usage.free / GIB:.2f} of {usage.total / GIB:.2f} GiB free"
    if usage.free < GIB // 8:
        yield Check("shared memory", Status.WARNING, detail, "frames pass through it: start the container with --shm-size=1g")
    else:
        yield Check("shared memory", Status.OK, detail)


DRIVER = "install NVIDIA's driver 580 or newer (Debian and Ubuntu: sudo apt-get install nvidia-driver-580), then restart the machine"
PCI = Path("/sys/bus/pci/devices")
LOADED = Path("/proc/driver/nvidia/version")

_NVML = """
from framefleet.engine.devices.nvml import Nvml
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
_NVJPEG = """
from cuda.core import Device
from framefleet.engine.media.nvdec.bitstream import UnsupportedError
from framefleet.engine.media.nvdec.jpeg import tested_engines
from framefleet.engine.media.nvdec.surfaces import device_surfaces
Device(0).set_current()
try:
    tested_engines(0, device_surfaces(0, 1, 2**20)).close()
    print("decodes JPEGs")
except UnsupportedError as problem:
    assert problem.notice.code == "media.no_jpeg_engines", problem
    print(f"not used: {problem}")
"""


def _parts() -> tuple[tuple[str, str, str], ...]:
    """Name, test and remedy of each part."""
    return (
        ("CUDA", _CUDA, str(install_extra("rtx"))),
        ("NVRTC", _NVRTC, "pip install 'nvidia-cuda-nvrtc>=13,<14' 'nvidia-cuda-runtime>=13,<14'"),
        ("TensorRT", _TENSORRT, str(install_extra("rtx"))),
        ("cuDNN", _CUDNN, f"TensorRT computes all networks; for more speed: {install_extra('cudnn')}"),
        (
            "NVDEC",
            _NVDEC,
            "videos are decoded by the CPU: pip install PyNvVideoCodec, and install the driver's libnvcuvid (Debian and Ubuntu:"
            " libnvidia-decode-580; in a container: NVIDIA_DRIVER_CAPABILITIES=compute,utility,video)",
        ),
        ("nvJPEG", _NVJPEG, "JPEGs are decoded by the CPU: pip install nvidia-nvjpeg"),
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
        remedy = str(install_extra("rtx")) if "NoNvmlError" in error else DRIVER
        yield Check("NVIDIA driver", Status.WARNING, _words(error), remedy)
        return
    yield Check("NVIDIA driver", Status.OK, found)
    for name, code, remedy in _parts():
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


REINSTALL = "install Framefleet again; in a checkout, delete the folder .venv first"
LIBRARIES = {
    "numpy": ("numpy", ""),
    "openvino": ("framefleet.engine.backends.openvino, openvino", ""),  # ours first: it turns off OpenVINO's telemetry
    "av": (
        "av",
        "missing = {'h264', 'hevc', 'vp9', 'av1', 'mjpeg'} - av.codecs_available; assert not missing, f'no decoder for {missing}'",
    ),
    "opencv-python-headless": ("cv2", ""),
    "lapx": ("lap", ""),
    "onnx": ("onnx", ""),
    "pillow": ("PIL.Image", ""),
    "platformdirs": ("platformdirs", ""),
    "pyyaml": ("yaml", ""),
    "requests": ("requests", ""),
    "tqdm": ("tqdm", ""),
}
WIDGETS = "import PySide6.QtWidgets, pyqtgraph; print(pyqtgraph.__version__)"
FONTS = "from PySide6.QtGui import QFontDatabase, QGuiApplication as A; a = A([]); print(len(QFontDatabase.families()))"
DISPLAY = "from PySide6.QtGui import QGuiApplication as A; a = A([]); print(a.platformName(), a.primaryScreen().size().toTuple())"


def check_libraries() -> Iterator[Check]:
    """Check all libraries, the devices and the window."""
    for distribution, (module, test) in LIBRARIES.items():
        yield check_library(distribution, f"import {module}\n{test}")
    yield from check_nvidia()
    yield from _devices()
    yield from check_window()


def check_library(distribution: str, code: str) -> Check:
    """Check the version of an installed distribution, and in another process the code that uses it."""
    try:
        found = version(distribution)
    except PackageNotFoundError:
        return Check(distribution, Status.PROBLEM, "not installed", REINSTALL)
    _, error = try_python(code)
    if error is not None:
        return Check(distribution, Status.PROBLEM, f"{found}: {error}", REINSTALL)
    return Check(distribution, Status.OK, found)


def _devices() -> Iterator[Check]:
    try:
        devices = discovery.discover(SECONDS)
    except DeviceError as error:
        yield Check("devices", Status.PROBLEM, str(error), "see the finding for openvino above")
        return
    for device in devices:
        if device.available:
            yield Check("device", Status.OK, str(device))
        else:
            remedy = "the line above says how to make it usable" if device.id.kind == "cuda" else "update its driver"
            yield Check("device", Status.WARNING, str(device), f"{remedy}; the other devices work without it")


def check_window() -> Iterator[Check]:
    """Check what only the window needs. The worst finding is a warning."""
    try:
        found = version("PySide6-Essentials")
    except PackageNotFoundError:
        yield Check("PySide6", Status.WARNING, "not installed: the window cannot start", REINSTALL)
        return
    if found.startswith("6.12.0") and sys.version_info < (3, 12):
        yield Check("PySide6", Status.WARNING, f"{found} aborts on this Python", REINSTALL)
        return
    if sys.platform.startswith("linux"):
        missing = missing_libraries()
        if missing:
            detail = f"missing, the window cannot start: {', '.join(missing)}"
            yield Check("Qt's system libraries", Status.WARNING, detail, install_command(missing))
        else:
            yield Check("Qt's system libraries", Status.OK, f"all {len(PACKAGES)} found")
    graphs, error = try_python(WIDGETS, {"QT_QPA_PLATFORM": "offscreen"})
    if error is not None:
        yield Check("PySide6", Status.WARNING, f"{found}, the window cannot start: {error}", REINSTALL)
        return
    yield Check("PySide6", Status.OK, f"{found}, with pyqtgraph {graphs}")
    fonts, error = try_python(FONTS, {"QT_QPA_PLATFORM": "offscreen"})
    if error is not None or fonts == "0":
        yield Check("fonts", Status.WARNING, error or "none: the window shows no text", "sudo apt-get install -y fonts-dejavu-core")
    yield _display()


def _display() -> Check:
    name = os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY") or os.environ.get("QT_QPA_PLATFORM")
    if sys.platform.startswith("linux") and not name:
        remedy = "detect, bench and devices work without a display; for the window use a desktop, ssh -X, or xvfb-run"
        return Check("display", Status.WARNING, "there is none", remedy)
    screen, error = try_python(DISPLAY)
    if error is not None:
        return Check(
            "display", Status.WARNING, f"{name} cannot be opened: {error}", "check DISPLAY, and that you may use that screen (xauth)"
        )
    return Check("display", Status.OK, f"{name or ''} {screen}".strip())


MARKS = {Status.OK: "ok", Status.WARNING: "warning", Status.PROBLEM: "PROBLEM"}


def run(argv: Sequence[str]) -> int:
    """Print every check. Exit status 0: detection can work; 1: it cannot."""
    description = "Check the libraries, devices, display, disk and memory of this machine, and say how to solve problems."
    parser = make_parser("doctor", description, examples=("",), json="print one JSON object instead of text")
    arguments = parser.parse_args(argv)
    checks: list[Check] = []
    for check in chain(check_system(), check_libraries()):
        checks.append(check)
        if not arguments.json:
            print(as_text(check), flush=True)
    usable = is_usable(checks)
    if arguments.json:
        print(json.dumps({"checks": [asdict(check) for check in checks], "usable": usable}))
    else:
        print(f"\n{verdict(checks)}")
    return 0 if usable else 1


def is_usable(checks: Iterable[Check]) -> bool:
    """Whether detection can work."""
    return all(check.status is not Status.PROBLEM for check in checks)


def as_text(check: Check) -> str:
    """The finding, and on a second line what to do."""
    finding = f"{MARKS[check.status]:8} {check.name}: {check.detail}"
    return f"{finding}\n{'':8} → {check.remedy}" if check.remedy else finding


def verdict(checks: Sequence[Check]) -> str:
    """Whether detection can work, and the number of warnings."""
    words = "This machine is ready." if is_usable(checks) else "Detection cannot work here until the problems above are solved."
    warnings = sum(check.status is Status.WARNING for check in checks)
    return f"{words} {warnings} warning{'s' * (warnings != 1)}." if warnings else words
