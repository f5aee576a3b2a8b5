"""Reads the structure of an ONNX file: inputs, outputs, operators, and the sizes of its constants, but not their values.

It decodes protobuf itself, because a file may come from anybody: the memory is bounded, a field that contradicts the file's size is an
error, and nothing else is loaded. Field numbers: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
"""

import hashlib
import heapq
import math
import mmap
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TypeAlias

from framefleet.engine.model.files import check_download, read_start
from framefleet.engine.notices import ModelError, Notice

MAX_BYTES = (1 << 31) - 1
"""Protobuf's limit for a file."""

MAX_FIELDS = 3_000_000
"""Maximum number of protobuf fields that are read: a few seconds. A detector has less than 50,000."""

MAX_DEPTH = 8
"""Maximum depth of graphs in attributes of nodes."""

MAX_TEXT = 1 << 20
"""Maximum length of a name or of a value of the metadata, bytes."""

FLOAT, UINT8, INT32, INT64, FLOAT16, DOUBLE = 1, 2, 6, 7, 10, 11
"""Element types (``TensorProto.DataType``)."""

_ITEM_BYTES = {1: 4, 2: 1, 3: 1, 4: 2, 5: 2, 6: 4, 7: 8, 9: 1, 10: 2, 11: 8, 12: 4, 13: 8, 14: 8, 15: 16, 16: 2, 17: 1, 18: 1, 19: 1, 20: 1}
_HALF_BYTES = (21, 22, 23)
_STRINGS = 8
_FEW_BYTES = 24
_FORMATS = {FLOAT: "f", FLOAT16: "e", DOUBLE: "d"}

Dims: TypeAlias = tuple[int | None, ...]
"""A shape. None: an axis whose size is not fixed."""


@dataclass(frozen=True)
class Value:
    """An input or an output of the graph. dims: None if the file does not say the shape."""

    name: str
    element_type: int
    dims: Dims | None

    def __str__(self) -> str:
        return f"{self.name} ({'×'.join('?' if dim is None else str(dim) for dim in self.dims or ()) or '?'})"


@dataclass(frozen=True)
class External:
    """The place of a constant's values in another file. length: bytes; None = to the end of the file."""

    location: str
    offset: int
    length: int | None


@dataclass(frozen=True)
class Constant:
    """A constant. nbytes: size of the values. numbers: the values, if they are a few floating-point numbers in the file; else empty."""

    name: str
    dims: tuple[int, ...]
    nbytes: int
    external: External | None
    numbers: tuple[float, ...] = ()


@dataclass(frozen=True)
class Node:
    """An operator.

    Attributes
    ----------
    integers
        Its attributes that are one integer, or a list of one: PyTorch writes a list for a tuple, and TensorRT takes it for the integer.
    floats
        Its attributes that are one float32 number, or a list of a few.
    constants
        Its attributes that are a constant.
    """

    operator: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    integers: Mapping[str, int]
    floats: Mapping[str, tuple[float, ...]]
    constants: tuple[Constant, ...] = ()


@dataclass
class Graph:
    """The main graph of a file, or one inside an attribute."""

    inputs: list[Value] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    constants: list[Constant] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class OnnxFile:
    """The structure of an ONNX file.

    Attributes
    ----------
    digest
        SHA-256 of the file, hexadecimal.
    graph
        The main graph. ``inputs`` are those that have no constant as a value.
    metadata
        ``metadata_props`` of the file.
    data
        The name of the file with the constants' values, in the same folder; None if there is none.
    parameters
        Number of elements of all constants.
    nbytes
        Size of all constants.
    order
        The numbers that the sorted nodes of ``graph`` have in the file.
    """

    path: Path
    digest: str
    producer: str
    graph: Graph
    metadata: Mapping[str, str]
    data: str | None
    parameters: int
    nbytes: int
    order: tuple[int, ...]

    @property
    def producers(self) -> dict[str, Node]:
        """The node that computes each value."""
        return {name: node for node in self.graph.nodes for name in node.outputs if name}

    @property
    def plugin(self) -> Node | None:
        """The node of ``EFFICIENT_NMS``; None if there is none."""
        return next((node for node in self.graph.nodes if node.operator == EFFICIENT_NMS), None)


def read_structure(path: Path) -> OnnxFile:
    """Read the structure of an ONNX file, and check it.

    Raises
    ------
    ModelError
        The file is missing, damaged or too large; a constant has another size than it claims; the graph has a cycle; an operator comes
        from an unknown domain; values are in several other files, or outside of the folder.
    """
    check_download(path, read_start(path, 512))
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise ModelError(Notice("model.onnx_too_large", path=path, most=MAX_BYTES))
    if not size:
        raise ModelError(Notice("model.onnx_damaged", path=path, problem=Notice("model.onnx_empty")))
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return _Reader(path, content).file()
    except (OSError, ValueError) as error:
        raise ModelError(Notice("general.unreadable", path=path, detail=str(error))) from error


class _Reader:
    """Decodes the fields of one file."""

    def __init__(self, path: Path, content: mmap.mmap) -> None:
        self._path, self._content = path, content
        self._fields = 0
        self._functions: set[tuple[str, str]] = set()
        self._operators: set[tuple[str, str]] = set()
        self._constants: list[Constant] = []

    def file(self) -> OnnxFile:
        graph: Graph | None = None
        metadata: dict[str, str] = {}
        producer = ""
        for number, start, end in self._each(0, len(self._content)):
            match number:
                case 2:
                    producer = self._text(start, end)
                case 7:
                    graph = self._graph(start, end, 0)
                case 14:
                    key, value = self._entry(start, end)
                    metadata[key] = value
                case 25:
                    self._function(start, end)
        if graph is None:
            raise self._damaged(Notice("model.onnx_no_graph"))
        unknown = sorted(f"{domain}.{name}" for domain, name in self._operators - self._functions if not _is_known(domain, name))
        if unknown:
            raise ModelError(Notice("model.onnx_unknown_domain", path=self._path, operators=tuple(unknown[:8])))
        order = self._order(graph)
        graph.nodes[:] = [graph.nodes[number] for number in order]
        given = {constant.name for constant in graph.constants}
        graph.inputs = [value for value in graph.inputs if value.name not in given]
        return OnnxFile(
            self._path,
            hashlib.sha256(self._content).hexdigest(),
            producer,
            graph,
            metadata,
            self._data(),
            sum(math.prod(constant.dims) for constant in self._constants),
            sum(constant.nbytes for constant in self._constants),
            tuple(order),
        )

    def _data(self) -> str | None:
        """The name of the file with values."""
        names = {constant.external.location for constant in self._constants if constant.external is not None}
        for name in names:
            if name in ("", ".", "..") or len(PurePosixPath(name).parts) > 1 or len(PureWindowsPath(name).parts) > 1:
                raise ModelError(Notice("model.onnx_outside_folder", path=self._path, location=name[:200]))
        if len(names) > 1:
            raise ModelError(Notice("model.onnx_several_files", path=self._path, files=tuple(sorted(names)[:8])))
        return next(iter(names), None)

    def _order(self, graph: Graph) -> list[int]:
        """Sort the nodes, so that each one comes after those whose outputs it reads. Returns their numbers in the file.

        The format demands this order, but converters to FP16 append nodes. A cycle has no such order.
        """
        known = {value.name for value in graph.inputs} | {constant.name for constant in graph.constants} | {""}
        producers: dict[str, int] = {}
        for number, node in enumerate(graph.nodes):
            for name in node.outputs:
                if name and (name in known or name in producers):
                    raise self._damaged(Notice("model.onnx_computed_twice", operator=node.operator, value=name[:100]))
                producers[name] = number
        users: dict[int, list[int]] = {}
        missing = [0] * len(graph.nodes)
        for number, node in enumerate(graph.nodes):
            for name in set(node.inputs) - known:
                if name not in producers:
                    raise self._damaged(Notice("model.onnx_no_value", operator=node.operator, value=name[:100]))
                users.setdefault(producers[name], []).append(number)
                missing[number] += 1
        for value in graph.outputs:
            if value.name not in known and value.name not in producers:
                raise self._damaged(Notice("model.onnx_no_value", operator="output", value=value.name[:100]))
        ready = [number for number, count in enumerate(missing) if not count]
        order = []
        while ready:
            order.append(heapq.heappop(ready))
            for user in users.get(order[-1], ()):
                missing[user] -= 1
                if not missing[user]:
                    heapq.heappush(ready, user)
        if len(order) < len(graph.nodes):
            node = next(node for node, count in zip(graph.nodes, missing, strict=True) if count)
            read = next(name for name in node.inputs if name not in known and missing[producers[name]])
            raise self._damaged(Notice("model.onnx_cycle", operator=node.operator, value=read[:100]))
        return order

    def _graph(self, start: int, end: int, depth: int) -> Graph:
        if depth > MAX_DEPTH:
            raise self._damaged(Notice("model.onnx_too_complex"))
        graph = Graph()
        for number, begin, stop in self._each(start, end):
            match number:
                case 1:
                    graph.nodes.append(self._node(begin, stop, depth))
                case 5:
                    graph.constants.append(self._constant(begin, stop))
                case 11:
                    graph.inputs.append(self._value(begin, stop))
                case 12:
                    graph.outputs.append(self._value(begin, stop))
        return graph

    def _function(self, start: int, end: int) -> None:
        name = domain = ""
        for number, begin, stop in self._each(start, end):
            match number:
                case 1:
                    name = self._text(begin, stop)
                case 10:
                    domain = self._text(begin, stop)
                case 7:
                    self._node(begin, stop, 1)
        self._functions.add((domain, name))

    def _node(self, start: int, end: int, depth: int) -> Node:
        inputs, outputs = list[str](), list[str]()
        operator = domain = ""
        integers: dict[str, int] = {}
        floats: dict[str, tuple[float, ...]] = {}
        constants: list[Constant] = []
        for number, begin, stop in self._each(start, end):
            match number:
                case 1:
                    inputs.append(self._text(begin, stop))
                case 2:
                    outputs.append(self._text(begin, stop))
                case 4:
                    operator = self._text(begin, stop)
                case 5:
                    self._attribute(begin, stop, depth, integers, floats, constants)
                case 7:
                    domain = self._text(begin, stop)
        self._operators.add((domain, operator))
        return Node(operator, domain, tuple(inputs), tuple(outputs), integers, floats, tuple(constants))

    def _attribute(
        self,
        start: int,
        end: int,
        depth: int,
        integers: dict[str, int],
        floats: dict[str, tuple[float, ...]],
        constants: list[Constant],
    ) -> None:
        name, whole, numbers = "", list[int](), b""
        for number, begin, stop in self._each(start, end):
            match number:
                case 1:
                    name = self._text(begin, stop)
                case 2 | 7 if 0 <= stop <= begin + _FEW_BYTES and len(numbers) <= _FEW_BYTES:
                    numbers += self._content[begin:stop]
                case 3 | 8 if len(whole) < 2 and stop - max(begin, 0) <= _FEW_BYTES:
                    whole += self._integers(begin, stop)
                case 5 | 10:
                    constants.append(self._constant(begin, stop))
                case 6 | 11:
                    self._graph(begin, stop, depth + 1)
        if len(whole) == 1:
            integers[name] = whole[0]
        if numbers and len(numbers) % 4 == 0 and len(numbers) <= _FEW_BYTES:
            floats[name] = struct.unpack(f"<{len(numbers) // 4}f", numbers)

    def _constant(self, start: int, end: int) -> Constant:
        name, dims, kind, stored, in_raw, outside, values = "", list[int](), 0, 0, False, False, b""
        entries: dict[str, str] = {}
        for number, begin, stop in self._each(start, end):
            if number in (4, 9, 10) and 0 < stop - begin <= _FEW_BYTES:
                values = self._content[begin:stop]
            elif number == 5 and kind == FLOAT16 and stop - begin <= _FEW_BYTES:
                values = b"".join(struct.pack("<H", bits & 0xFFFF) for bits in self._integers(begin, stop))
            match number:
                case 1:
                    dims += self._integers(begin, stop)
                case 2:
                    kind = begin
                case 8:
                    name = self._text(begin, stop)
                case 9:
                    stored, in_raw = stop - begin, True
                case 4 | 5 | 7 | 10 | 11:
                    stored += stop - begin if stop >= 0 else 1
                case 13:
                    key, value = self._entry(begin, stop)
                    entries[key] = value
                case 14:
                    outside = begin == 1
        if any(dim < 0 for dim in dims):
            raise self._damaged(Notice("model.onnx_wrong_constant", name=name[:100]))
        count = math.prod(dims)
        nbytes = (count + 1) // 2 if kind in _HALF_BYTES else count * _ITEM_BYTES.get(kind, 1)
        external = self._external(name, entries, nbytes) if outside else None
        # values that are not raw are stored one by one, a whole number in at least one byte
        least = nbytes if in_raw or kind in (FLOAT, DOUBLE) else count
        if external is None and kind != _STRINGS and (stored < least or (in_raw and stored != nbytes)):
            raise self._damaged(Notice("model.onnx_wrong_constant", name=name[:100]))
        numbers = struct.unpack(f"<{count}{_FORMATS[kind]}", values) if kind in _FORMATS and len(values) == nbytes else ()
        constant = Constant(name, tuple(dims), nbytes, external, numbers)
        self._constants.append(constant)
        return constant

    def _external(self, name: str, entries: Mapping[str, str], nbytes: int) -> External:
        try:
            offset = int(entries.get("offset", "0"))
            length = int(entries["length"]) if "length" in entries else None
        except ValueError:
            raise self._damaged(Notice("model.onnx_wrong_constant", name=name[:100])) from None
        if offset < 0 or (length is not None and length != nbytes):
            raise self._damaged(Notice("model.onnx_wrong_constant", name=name[:100]))
        return External(entries.get("location", ""), offset, length)

    def _value(self, start: int, end: int) -> Value:
        name, element_type, dims = "", 0, None
        for number, begin, stop in self._each(start, end):
            if number == 1:
                name = self._text(begin, stop)
            elif number == 2:
                for kind, type_begin, type_stop in self._each(begin, stop):
                    if kind == 1:
                        element_type, dims = self._tensor_type(type_begin, type_stop)
        return Value(name, element_type, dims)

    def _tensor_type(self, start: int, end: int) -> tuple[int, Dims | None]:
        element_type, dims = 0, None
        for number, begin, stop in self._each(start, end):
            if number == 1:
                element_type = begin
            elif number == 2:
                dims = tuple(self._dim(dim_begin, dim_stop) for key, dim_begin, dim_stop in self._each(begin, stop) if key == 1)
        return element_type, dims

    def _dim(self, start: int, end: int) -> int | None:
        sizes = [begin for number, begin, _ in self._each(start, end) if number == 1]
        return sizes[-1] if sizes and sizes[-1] > 0 else None

    def _entry(self, start: int, end: int) -> tuple[str, str]:
        texts = {number: self._text(begin, stop) for number, begin, stop in self._each(start, end) if number in (1, 2)}
        return texts.get(1, ""), texts.get(2, "")

    def _text(self, start: int, end: int) -> str:
        if not 0 <= end - start <= MAX_TEXT:
            raise self._damaged(Notice("model.onnx_too_complex"))
        try:
            return self._content[start:end].decode()
        except UnicodeDecodeError:
            raise self._damaged(Notice("model.onnx_no_protobuf")) from None

    def _integers(self, start: int, end: int) -> list[int]:
        """A repeated integer: one value (end is -1), or several in a row."""
        if end < 0:
            return [start]
        found, place = list[int](), start
        while place < end:
            value, place = self._varint(place, end)
            found.append(value)
            if len(found) > 64:
                raise self._damaged(Notice("model.onnx_too_complex"))
        return found

    def _each(self, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Yield number, start and end of each field. For an integer, start is its value and end is -1."""
        if end < 0:
            raise self._damaged(Notice("model.onnx_no_protobuf"))
        place = start
        while place < end:
            self._fields += 1
            if self._fields > MAX_FIELDS:
                raise self._damaged(Notice("model.onnx_too_complex"))
            tag, place = self._varint(place, end)
            number, kind = tag >> 3, tag & 7
            match kind:
                case 0:
                    value, place = self._varint(place, end)
                    yield number, value, -1
                case 1 | 5:
                    place += 8 if kind == 1 else 4
                    if place <= end:
                        yield number, place - (8 if kind == 1 else 4), place
                case 2:
                    length, place = self._varint(place, end)
                    place += length
                    if length >= 0 and place <= end:
                        yield number, place - length, place
                case _:
                    raise self._damaged(Notice("model.onnx_no_protobuf"))
            if place > end or number < 1:
                raise self._damaged(Notice("model.onnx_cut_off" if end == len(self._content) else "model.onnx_no_protobuf"))

    def _varint(self, place: int, end: int) -> tuple[int, int]:
        value = shift = 0
        while place < end and shift < 70:
            byte = self._content[place]
            place += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                value &= (1 << 64) - 1
                return value - (1 << 64) if value >> 63 else value, place
            shift += 7
        raise self._damaged(Notice("model.onnx_cut_off" if end == len(self._content) else "model.onnx_no_protobuf"))

    def _damaged(self, problem: Notice) -> ModelError:
        return ModelError(Notice("model.onnx_damaged", path=self._path, problem=problem))


def _is_known(domain: str, operator: str) -> bool:
    """Whether an operator is one of ONNX, or one that is replaced."""
    return domain in ("", "ai.onnx") or operator == EFFICIENT_NMS


EFFICIENT_NMS = "EfficientNMS_TRT"
"""A plugin of TensorRT that suppresses boxes. Its inputs are read instead of its outputs."""
