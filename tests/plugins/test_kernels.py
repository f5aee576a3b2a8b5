"""The kernels compile for every architecture, without a device; cubins are kept, and trusted only when untouched."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from framefleet.plugins import bandwidth, channels_last, colour, nms, pointwise, preprocess, yolo_layer
from framefleet.plugins.cache import FileCache
from framefleet.plugins.kernels import SOURCES, KernelError, compile_kernels, compile_source, source
from framefleet.plugins.nms import RECORD
from framefleet.plugins.preprocess import FRAME
from framefleet.plugins.yolo_layer import HEAD

pytest.importorskip("cuda.core")

NAMES = ("mish", "preprocess_fp16", "preprocess_fp32", "yolo_count_fp16", "yolo_count_fp32", "yolo_layer_fp16", "yolo_layer_fp32", "nms")


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm_75", "sm_120"])
def test_they_compile_for(arch: str, tmp_path: Path) -> None:
    cubin = compile_kernels(arch, FileCache(tmp_path))
    assert cubin.startswith(b"\x7fELF")
    for name in NAMES:
        assert b".text." + name.encode() + b"\0" in cubin


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, bytes]:
    """A folder with one entry, for sm_90, and what is in it: a kernel that compiles faster than those of the project."""
    monkeypatch.setattr("framefleet.plugins.kernels.source", lambda: 'extern "C" __global__ void one() {}')
    return tmp_path, compile_kernels("sm_90", FileCache(tmp_path))


def test_a_cubin_is_compiled_once(kept: tuple[Path, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    folder, cubin = kept
    assert b".text.one\0" in cubin
    monkeypatch.setattr("framefleet.plugins.kernels.compile_source", lambda *_: pytest.fail("compiled again"))
    assert compile_kernels("sm_90", FileCache(folder)) == cubin
    assert [entry.suffix for entry in folder.iterdir()] == [".built"]


def test_a_damaged_cubin_is_compiled_anew(kept: tuple[Path, bytes]) -> None:
    folder, cubin = kept
    (entry,) = folder.iterdir()
    damaged = bytearray(entry.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    entry.write_bytes(damaged)
    assert compile_kernels("sm_90", FileCache(folder)) == cubin
    assert entry.read_bytes() != bytes(damaged)


def test_another_architecture_or_code_has_its_own(kept: tuple[Path, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    folder, cubin = kept
    assert compile_kernels("sm_80", FileCache(folder)) != cubin
    monkeypatch.setattr("framefleet.plugins.kernels.source", lambda: 'extern "C" __global__ void another() {}')
    assert b".text.another\0" in compile_kernels("sm_90", FileCache(folder))
    assert b".text.another\0" not in cubin
    assert len(list(folder.iterdir())) == 3


def test_an_unknown_architecture_is_named(tmp_path: Path) -> None:
    with pytest.raises(KernelError, match="sm_12345"):
        compile_kernels("sm_12345", FileCache(tmp_path))
    assert not list(tmp_path.iterdir())


def test_missing_headers_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cuda.pathfinder.find_nvidia_header_directory", lambda _: str(tmp_path))
    monkeypatch.setattr("framefleet.plugins.kernels.TOOLKIT", str(tmp_path))
    with pytest.raises(KernelError, match=r"cuda_fp16\.h.*nvidia-cuda-runtime"):
        compile_kernels("sm_90", FileCache(tmp_path))


def test_the_compilers_words_are_passed_on() -> None:
    with pytest.raises(KernelError, match='"nowhere"'):
        compile_source("int x = nowhere;", "sm_90")


def test_every_source_is_compiled() -> None:
    folder = Path(__file__).parents[2] / "plugins" / "kernels"
    assert {path.name for path in folder.glob("*.cu*")} == {*SOURCES, *bandwidth.SOURCES, *channels_last.SOURCES, *pointwise.SOURCES}


def layout_checks(struct: str, dtype: np.dtype[np.void], names: dict[str, str]) -> list[str]:
    """What must hold for the struct to have its fields where NumPy has them. names: of fields that are called otherwise in C++."""
    assert dtype.fields is not None
    places = [f"__builtin_offsetof({struct}, {names.get(name, name)}) == {field[1]}" for name, field in dtype.fields.items()]
    return [f"sizeof({struct}) == {dtype.itemsize}", *places]


def test_python_and_the_kernels_agree() -> None:
    checks = [
        *layout_checks("Frame", FRAME, {"size": "width", "inside": "left", "shown": "shown_width"}),
        *layout_checks("Head", HEAD, {}),
        *layout_checks("Record", RECORD, {"box": "x1"}),
        f"YOLO_THREADS == {yolo_layer.THREADS} && MAX_HEADS == {yolo_layer.MAX_HEADS} && MAX_ANCHORS == {yolo_layer.MAX_ANCHORS}",
        f"NOT_FINITE > {yolo_layer.CAPACITY} && MAX_COUNTED <= 0x7fffffff / {yolo_layer.CAPACITY}",
        f"NMS_THREADS == {nms.THREADS}",
        f"NV12 == {preprocess.NV12} && P016 == {preprocess.P016} && RGB8 == {preprocess.RGB8} && I420 == {preprocess.I420}",
        f"COLOUR_SHIFT == {colour.SHIFT}",
    ]
    cubin = compile_source(source() + "".join(f'static_assert({check}, "agreed");\n' for check in checks), "sm_90")
    assert all(b".text." + name.encode() + b"\0" in cubin for name in NAMES)
    with pytest.raises(KernelError, match="static assertion failed"):
        compile_source(source("half.cuh", "preprocess.cu") + f'static_assert(!({checks[0]}), "agreed");', "sm_90")
    assert all(dtype.itemsize % 8 == 0 and dtype.itemsize <= 192 for dtype in (FRAME, HEAD))
