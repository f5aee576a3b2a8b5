"""The doctor's checks of the machine itself: Python, processor, memory, folders, shared memory."""

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from platformdirs import user_log_path

from framefleet.app.cli.checks.check import Check, Status
from framefleet.engine.devices.affinity import usable_cores
from framefleet.engine.devices.host_memory import read_host_memory
from framefleet.engine.settings.folders import Folder

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
        yield _folder(f"{folder} folder", folder.path)
    yield _folder("log folder", user_log_path("framefleet", appauthor=False))
    yield _folder("temporary folder", Path(tempfile.gettempdir()))
    yield from _shared_memory()


def _processor() -> Check:
    facts = processor_facts()
    if not facts:
        return Check("processor", Status.OK, f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores")
    flags = facts.get("flags", "").split()
    has = [label for flag, label in FEATURES.items() if flag in flags]
    extensions = ", ".join(has) or "no vector extensions"
    detail = f"{facts.get('model name', platform.machine())}, {usable_cores()} of {os.cpu_count()} cores usable, {extensions}"
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
    memory = read_host_memory()
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


def _folder(name: str, path: Path) -> Check:
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
