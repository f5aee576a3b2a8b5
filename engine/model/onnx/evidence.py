"""What the operators before an output say about its numbers, where its shape leaves it open."""

from framefleet.engine.model.onnx.structure import Node, OnnxFile

_JOINS_AND_CUTS = frozenset(["Transpose", "Concat", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Slice", "Split", "Identity", "Cast"])
_MOVES = _JOINS_AND_CUTS | {"Gather", "GatherElements", "GatherND", "Expand"}
"""Operators that only move numbers: those of their first input, or of all inputs of Concat."""


def scales_pictures(file: OnnxFile, name: str) -> bool:
    """Whether the network itself divides its input by 255, or subtracts a mean of numbers from 0 to 255."""
    numbers = {constant.name: constant.numbers for constant in file.graph.constants}
    moved, users = {name}, list[Node]()
    for node in file.graph.nodes:
        if node.operator in ("Constant", "ConstantOfShape"):
            found = [*(constant.numbers for constant in node.constants), *node.floats.values()]
            numbers |= dict.fromkeys(node.outputs, found[0] if found else ())
        elif moved.intersection(node.inputs):
            if node.operator in _MOVES:
                moved.update(node.outputs)
            else:
                users.append(node)
    return bool(users) and all(_scales_bytes(node.operator, [numbers.get(value, ()) for value in node.inputs]) for node in users)


def _scales_bytes(operator: str, numbers: list[tuple[float, ...]]) -> bool:
    constant = next(filter(None, numbers), ())
    if operator == "Sub":
        return any(number > 1 for number in constant)
    factors = [1 / number if operator == "Div" else number for number in constant if number]
    return operator in ("Div", "Mul") and bool(factors) and all(1 / 256.5 < factor < 1 / 253.5 for factor in factors)


def is_raw(file: OnnxFile, output: str) -> bool:
    """Whether an output consists of outputs of convolutions, without arithmetic that would make boxes of them."""
    producers, waiting, seen, convolutions = file.producers, [output], set[str](), 0
    while waiting:
        name = waiting.pop()
        node = producers.get(name)
        if name in seen:
            continue
        seen.add(name)
        if node is None:
            return False
        if node.operator == "Conv":
            convolutions += 1
        elif node.operator not in _JOINS_AND_CUTS and node.operator != "Sigmoid":
            return False
        else:
            waiting += node.inputs if node.operator == "Concat" else node.inputs[:1]
    return convolutions > 1


def has_corners(file: OnnxFile, output: str) -> bool | None:
    """Whether the first four numbers of each box are corners, not centre and size, by how distances from a cell become a box.

    Corners are the cell minus two distances, and plus the other two. None: the operators do not say it.
    """
    producers, name = file.producers, output
    while node := producers.get(name):
        before = [producers[value].operator if value in producers else "" for value in node.inputs]
        if node.operator == "Concat" and before == ["Sub", "Add"]:
            return True
        if node.operator == "Concat" and before in (["Div", "Sub"], ["Mul", "Sub"]):
            return False
        if node.operator in ("Mul", "Div"):  # by the stride
            name = next((value for value, operator in zip(node.inputs, before, strict=True) if operator not in ("", "Constant")), "")
        elif node.operator in _MOVES:
            name = node.inputs[0]
        else:
            break
    return None


def ends_with_class_ids(file: OnnxFile, output: str) -> bool:
    """Whether the last column of an output consists of whole numbers."""
    columns = _columns(file, output)
    return bool(columns) and _is_whole(file, columns[-1])


def ends_with_scores(file: OnnxFile, output: str) -> bool:
    """Whether the last column of an output consists of probabilities, and the one before of whole numbers."""
    columns = _columns(file, output)
    return len(columns) > 1 and _is_whole(file, columns[-2]) and not _is_whole(file, columns[-1])


def lacks_scores(file: OnnxFile, output: str) -> bool:
    """Whether the last channels of YOLOv8's outputs are not scores, but coefficients of masks, points or angles.

    These come from a convolution, or were scaled.
    """
    join = next((node for node in _steps(file, output) if node.operator == "Concat"), None)
    steps = _steps(file, join.inputs[-1]) if join is not None and join.integers.get("axis") in (1, -2) else []
    if not steps:
        return False
    scaled = steps[-1].operator == "Mul" and not any(are_probabilities(file, value) for value in steps[-1].inputs)
    return scaled or steps[-1].operator == "Conv"


def number_of_parts(file: OnnxFile, output: str) -> int:
    """How many values the last Concat joins: boxes and scores, or also the objectness between them, as in YOLOv6, or even an angle."""
    return len(_columns(file, output))


def stacks_sides(file: OnnxFile, boxes: str) -> bool:
    """Whether each of the four sides is computed on its own, by a distance from a point."""
    join = next((node for node in _steps(file, boxes) if node.operator == "Concat"), None)
    ends = [steps[-1].operator for value in join.inputs if (steps := _steps(file, value))] if join is not None else []
    return ends == ["Sub", "Sub", "Add", "Add"]


def starts_with_fractions(file: OnnxFile, output: str) -> bool | None:
    """Whether the boxes come from a logistic function, as fractions of the input do. None: the operators do not say it."""
    columns = _columns(file, output)
    return are_probabilities(file, columns[0]) if columns else None


def starts_with_scores(file: OnnxFile, output: str) -> bool:
    """Whether the first columns of a raw output are scores, as in NanoDet, not boxes."""
    return is_raw(file, output) and are_probabilities(file, output)


def joins_boxes_objectness_scores(file: OnnxFile, output: str) -> bool:
    """Whether a raw output has boxes, the objectness and scores, as YOLOX. Others have distributions of distances, or scores first."""
    joins = [node.inputs for node in _steps(file, output) if node.operator == "Concat"]
    return any([are_probabilities(file, part) for part in parts] == [False, True, True] for parts in joins)


def are_probabilities(file: OnnxFile, value: str) -> bool:
    """Whether a value comes from a logistic function or from Softmax."""
    steps = _steps(file, value)
    return bool(steps) and steps[-1].operator in ("Sigmoid", "Softmax")


def _columns(file: OnnxFile, output: str) -> tuple[str, ...]:
    """The values that the last Concat joins; empty if the output has another end."""
    for node in _steps(file, output):
        if node.operator == "Concat":
            return node.inputs
    return ()


def _is_whole(file: OnnxFile, value: str) -> bool:
    steps = _steps(file, value)
    return any(node.operator == "Cast" for node in steps) and steps[-1].operator not in ("Sigmoid", "Softmax")


def _steps(file: OnnxFile, value: str) -> list[Node]:
    """The operators from a value back to the one that computed it, this one included."""
    producers, steps = file.producers, list[Node]()
    while node := producers.get(value):
        steps.append(node)
        if node.operator not in _MOVES or not node.inputs:
            break
        value = node.inputs[0]
    return steps
