"""Finds the suppression inside a graph, so that a device that lacks its operators can compute what comes before it.

Two exporters write NonMaxSuppression behind their detectors: ultralytics with ``nms=True``, and YOLOv7 with ``--end2end --max-wh``. Both
take the strongest class of each box, and move the boxes of each class away from those of the others.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from framefleet.engine.model.onnx.structure import Graph, Node, read_structure

_SUPPRESSION = "NonMaxSuppression"

NOT_ON_GPUS = frozenset({_SUPPRESSION, "NonZero"})
"""Operators that TensorRT for RTX lacks."""

_WALKED = frozenset(
    ["Transpose", "Reshape", "Squeeze", "Unsqueeze", "Slice", "Identity", "Cast", "Gather", "GatherND", "Expand", "Mul", "Div"]
)
"""Operators between the boxes or scores of a network and its suppression."""


@dataclass(frozen=True)
class FoundSuppression:
    """Names of values in a graph.

    Attributes
    ----------
    boxes, scores
        Corners (B, N, 4), and a score for each class (B, N, n).
    iou
        The constant above which boxes overlap.
    minima
        The constants that scores must exceed.
    limit
        The constant with the number of boxes that are kept.
    """

    boxes: str
    scores: str
    iou: str
    minima: tuple[str, ...]
    limit: str


def find_suppression(graph: Graph) -> FoundSuppression | None:
    """Find the suppression of a graph; None if it has none, several, or one of another pattern."""
    found = [node for node in graph.nodes if node.operator == _SUPPRESSION]
    if len(found) != 1 or len(found[0].inputs) < 4 or found[0].integers.get("center_point_box", 0):
        return None
    producers = {name: node for node in graph.nodes for name in node.outputs if name}
    boxes, scores, limit, iou, *minimum = found[0].inputs
    strongest = _origin(producers, scores)
    if strongest is None or strongest.operator != "ReduceMax":
        return None
    all_scores = strongest.inputs[0]
    all_boxes = _boxes(producers, boxes, all_scores)
    if all_boxes is None:
        return None
    greater = [
        node.inputs[1]
        for node in graph.nodes
        if node.operator in ("Greater", "GreaterOrEqual") and _origin(producers, node.inputs[0]) is strongest
    ]
    return FoundSuppression(all_boxes, all_scores, iou, (*(name for name in minimum[:1] if name), *greater), limit)


def _boxes(producers: dict[str, Node], value: str, scores: str) -> str | None:
    """The boxes before those of each class are moved away from the others; None if they are not moved."""
    parted = producers.get(scores)
    moved = False
    while node := producers.get(value):
        if parted is not None and node.operator in ("Slice", "Split") and node.inputs[0] == parted.inputs[0]:
            break  # boxes and scores are parts of one value
        if node.operator == "Add" and not moved:
            offsets = [name for name in node.inputs if _is_class(producers, name, scores)]
            if len(offsets) != 1:
                return None
            value = next(name for name in node.inputs if name != offsets[0])
            moved = True
        elif node.operator in _WALKED:
            value = next((name for name in node.inputs if name in producers and producers[name].operator != "Constant"), "")
        else:
            break
    return value if moved and value else None


def _is_class(producers: dict[str, Node], value: str, scores: str) -> bool:
    """Whether a value is the number of the strongest class, multiplied by something."""
    node = _origin(producers, value)
    return node is not None and node.operator == "ArgMax" and node.inputs[0] == scores


def _origin(producers: dict[str, Node], value: str) -> Node | None:
    """The operator that computed a value before others picked parts of it."""
    node = producers.get(value)
    while node is not None and node.operator in _WALKED:
        node = next((producers[name] for name in node.inputs if name in producers and producers[name].operator != "Constant"), None)
    return node


def needed_nodes(nodes: Sequence[Node], outputs: Collection[str]) -> list[Node]:
    """The operators that compute these values, in their order."""
    needed, kept = set(outputs), []
    for node in reversed(nodes):
        if needed.intersection(node.outputs):
            kept.append(node)
            needed.update(node.inputs)
    return kept[::-1]


def lacking_on_gpus(path: Path) -> tuple[str, ...]:
    """The operators of a file that keep it from running on NVIDIA GPUs. Raises ModelError: see ``read_structure``."""
    file = read_structure(path)
    nodes = file.graph.nodes
    if file.plugin is not None:
        nodes = needed_nodes(nodes, file.plugin.inputs[:2])
    elif found := find_suppression(file.graph):
        nodes = needed_nodes(nodes, (found.boxes, found.scores))
    return tuple(sorted(NOT_ON_GPUS.intersection(node.operator for node in nodes)))
