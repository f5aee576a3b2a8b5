"""Files from anybody: each one that is hostile or damaged gets a clear error, soon and in little memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from framefleet.engine.model.load import check_model, load_model
from framefleet.engine.model.onnx.recognise import find_data
from framefleet.engine.notices import FramefleetError, ModelError
from framefleet.engine.settings import ModelFiles
from tests.support.onnx_models import CELLS, save, write_model

OUTPUT = helper.make_tensor_value_info("o", TensorProto.FLOAT, (1, 6, CELLS))


def valid(path: Path) -> ModelFiles:
    return write_model(path, {"o": np.zeros((1, 6, CELLS), np.float32)})


def changed(path: Path, change: Callable[[onnx.ModelProto], object]) -> ModelFiles:
    files = valid(path)
    model = onnx.load(path)
    change(model)
    path.write_bytes(model.SerializeToString())
    return files


def claims_two_gigabytes(model: onnx.ModelProto) -> None:
    model.graph.initializer[1].dims[:] = [1 << 29]


def claims_a_negative_size(model: onnx.ModelProto) -> None:
    model.graph.initializer[1].dims[:] = [-1, -504]


def is_a_cycle(model: onnx.ModelProto) -> None:
    model.graph.node.insert(0, helper.make_node("Add", ["b", "images"], ["a"]))
    model.graph.node.insert(1, helper.make_node("Add", ["a", "images"], ["b"]))


def computes_a_value_again(model: onnx.ModelProto) -> None:
    model.graph.node.insert(0, helper.make_node("Relu", ["images"], ["a"]))
    model.graph.node.insert(1, helper.make_node("Identity", ["a"], ["a"]))


def reads_nothing(model: onnx.ModelProto) -> None:
    model.graph.node.insert(0, helper.make_node("Relu", ["nobody"], ["a"]))


def has_another_output(model: onnx.ModelProto) -> None:
    model.graph.output[0].name = "nobody"


def has_another_domain(model: onnx.ModelProto) -> None:
    model.graph.node.insert(0, helper.make_node("Steal", ["images"], ["a"], domain="com.example"))


def nests_graphs(model: onnx.ModelProto) -> None:
    graph = helper.make_graph([], "inner", [], [])
    for _ in range(20):
        graph = helper.make_graph([helper.make_node("If", ["x"], ["y"], then_branch=graph, else_branch=graph)], "g", [], [])
        graph.node[0].attribute.pop()
    model.graph.node.append(graph.node[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (claims_two_gigabytes, "the constant 'o_values' has another size"),
        (claims_a_negative_size, "the constant 'o_values' has another size"),
        (is_a_cycle, "Add reads 'b' before it is computed: the graph has a cycle"),
        (computes_a_value_again, "the operator Identity computes 'a', which is computed before"),
        (reads_nothing, "Relu reads 'nobody', which nothing computes"),
        (has_another_output, "output reads 'nobody', which nothing computes"),
        (has_another_domain, r"operators that are not ONNX's own: com\.example\.Steal"),
        (nests_graphs, "more or longer parts than a detector has"),
        (lambda model: model.ClearField("graph"), "it has no graph"),
    ],
)
def test_hostile_graphs(tmp_path: Path, change: Callable[[onnx.ModelProto], object], message: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(ModelError, match=message):
            check_model(changed(tmp_path / "a.onnx", change))
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()


def test_values_that_would_fill_the_memory(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("ConstantOfShape", ["shape"], ["huge"]),
        helper.make_node("ReduceMean", ["huge"], ["mean"], keepdims=0),
        helper.make_node("Mul", ["values", "mean"], ["o"]),
    ]
    tensors = [
        numpy_helper.from_array(np.array([1 << 20, 1 << 20], np.int64), "shape"),
        numpy_helper.from_array(np.zeros((1, 6, CELLS), np.float32), "values"),
    ]
    with pytest.raises(ModelError, match="more than 4,294,967,296 values per picture"):
        load_model(save(tmp_path / "a.onnx", nodes, tensors, [OUTPUT]))


def test_files_that_are_cut_off(tmp_path: Path) -> None:
    files = valid(tmp_path / "a.onnx")
    content = files.cfg.read_bytes()
    for length in (0, 1, 2, 30, len(content) // 2, len(content) - 1):
        files.cfg.write_bytes(content[:length])
        with pytest.raises(ModelError, match="is not a usable ONNX file"):
            check_model(files)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<!DOCTYPE html>", "is a web page"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS"),
        (b"PK\x03\x04" * 100, "is a ZIP archive: unpack it"),
        (b"\x0f" * 100, "damaged, or a file of another kind"),
        (b"\xff" * 100, "is not a usable ONNX file"),
    ],
)
def test_files_of_another_kind(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "a.onnx"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=message):
        check_model(ModelFiles(path, path))


@given(place=st.integers(0, 1500), byte=st.integers(0, 255))
def test_a_changed_byte_is_harmless(tmp_path_factory: pytest.TempPathFactory, place: int, byte: int) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "a.onnx"
    files = valid(path)
    content = bytearray(path.read_bytes())
    content[place % len(content)] = byte
    path.write_bytes(content)
    with suppress(FramefleetError):
        check_model(files)


def external(path: Path, location: str, offset: int = 0) -> ModelFiles:
    """A file whose constant is in another one."""

    def move(model: onnx.ModelProto) -> None:
        tensor = model.graph.initializer[1]
        onnx.external_data_helper.set_external_data(tensor, location, offset, len(tensor.raw_data))
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL

    return changed(path, move)


def test_constants_in_a_file_beside(tmp_path: Path) -> None:
    files = external(tmp_path / "a.onnx", "a.data", 8)
    with pytest.raises(ModelError, match=r"another file, .*a\.data, which is missing"):
        find_data(files.cfg)
    with pytest.raises(ModelError, match="which is missing"):
        load_model(files)
    data = tmp_path / "a.data"
    data.write_bytes(bytes(8 + 4 * 6 * CELLS))
    assert find_data(files.cfg) == data
    network = load_model(ModelFiles(files.cfg, data))
    data.write_bytes(b"\1" * (8 + 4 * 6 * CELLS))
    assert load_model(ModelFiles(files.cfg, data)).digest != network.digest
    data.write_bytes(bytes(20))
    with pytest.raises(ModelError, match="it ends before the values of 'o_values'"):
        load_model(ModelFiles(files.cfg, data))


@pytest.mark.parametrize("location", ["../secret", "/etc/passwd", "..\\secret", "a/b", "", ".."])
def test_constants_outside_of_the_folder(tmp_path: Path, location: str) -> None:
    with pytest.raises(ModelError, match="which is not a file beside it"):
        check_model(external(tmp_path / "a.onnx", location))


def test_constants_in_several_files(tmp_path: Path) -> None:
    def move(model: onnx.ModelProto) -> None:
        for number, tensor in enumerate(model.graph.initializer):
            onnx.external_data_helper.set_external_data(tensor, f"{number}.data", 0, len(tensor.raw_data))
            tensor.ClearField("raw_data")
            tensor.data_location = TensorProto.EXTERNAL

    with pytest.raises(ModelError, match=r"several files \(0\.data, 1\.data\)"):
        check_model(changed(tmp_path / "a.onnx", move))


def test_a_link_is_no_file_beside(tmp_path: Path) -> None:
    files = external(tmp_path / "a.onnx", "a.data")
    (tmp_path / "a.data").symlink_to("/etc/passwd")
    with pytest.raises(ModelError, match=r"a\.data, which is a symbolic link: put the file itself there"):
        find_data(files.cfg)
    with pytest.raises(ModelError, match="which is a symbolic link"):
        load_model(ModelFiles(files.cfg, tmp_path / "a.data"))


def test_functions_of_the_file_are_known(tmp_path: Path) -> None:
    def add(model: onnx.ModelProto) -> None:
        own = helper.make_function(
            "mine", "Twice", ["x"], ["y"], [helper.make_node("Add", ["x", "x"], ["y"])], [helper.make_opsetid("", 13)]
        )
        model.functions.append(own)
        model.opset_import.append(helper.make_opsetid("mine", 1))
        model.graph.node.append(helper.make_node("Twice", ["o"], ["doubled"], domain="mine"))
        model.graph.output[0].name = "doubled"

    assert load_model(changed(tmp_path / "a.onnx", add)).classes == 2


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "a.onnx"
    with path.open("wb") as file:
        file.write(b"\x08\x08")
        file.truncate(1 << 31)  # a hole, which takes no space
    with pytest.raises(ModelError, match="is larger than 2,147,483,647 bytes"):
        check_model(ModelFiles(path, path))


@pytest.mark.parametrize("heads", ["", "[", "[]", '[{"shape": [1, 2, 3]}]', "null"])
def test_an_own_export_whose_description_is_damaged(tmp_path: Path, heads: str) -> None:
    def describe(model: onnx.ModelProto) -> None:
        model.producer_name = "framefleet"
        helper.set_model_props(model, {"heads": heads})

    with pytest.raises(ModelError, match="its description of the outputs is damaged"):
        check_model(changed(tmp_path / "a.onnx", describe))
