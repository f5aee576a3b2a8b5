"""Hostile truth files: refused with the file and the reason, or read, in less than 1 GB of memory."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from framefleet.engine.evaluation.evaluate import evaluate, read_truth
from framefleet.engine.notices import SourceError, UsageError
from tests.engine.evaluation.test_truth import coco, cvat, yolo
from tests.support.faults.counts import short_and_long
from tests.support.faults.damage import VALUES, damaged, examples, memory_below, randomness
from tests.support.store import write_session

FRAMES = 4
GIGABYTE = 10**9


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_session(tmp_path_factory.mktemp("truth") / "session.sqlite", {"clip.mp4": FRAMES})


def attempt(session: Path, truth: Path, named: Path) -> bool:
    """Evaluate with a truth. Returns whether it is used; a refusal must name the file."""
    try:
        evaluation = evaluate({"run": session}, read_truth(truth))
    except (SourceError, UsageError) as error:
        complaint = str(error)
    else:
        assert (evaluation.objects == 0) == math.isnan(evaluation.results[0].map50)
        assert not evaluation.objects or 0 <= evaluation.results[0].map50 <= 1 + 1e-9
        return True
    assert str(named) in complaint
    assert len(complaint) < 1500
    return False


ORIGINALS: dict[str, Callable[[Path], object]] = {
    "truth.json": lambda path: path.write_text(json.dumps(coco([None] * FRAMES))),
    "truth.json.gz": lambda path: path.write_bytes(gzip.compress(json.dumps(coco([None] * FRAMES)).encode(), mtime=0)),
    "task.xml": lambda path: cvat(path, FRAMES),
}


@short_and_long(40, 5000)
@pytest.mark.parametrize("name", ORIGINALS)
def test_truth_with_damaged_bytes(name: str, rounds: int, session: Path, tmp_path: Path) -> None:
    random, path = randomness(), tmp_path / name
    ORIGINALS[name](path)
    assert attempt(session, path, path)
    whole = path.read_bytes()
    with memory_below(GIGABYTE):
        used = 0
        for _ in range(rounds):
            path.write_bytes(damaged(whole, random))
            used += attempt(session, path, path)
    print(f"{used} of {rounds} used, the others refused")
    assert used < rounds


@short_and_long(40, 5000)
def test_labels_with_damaged_bytes(rounds: int, session: Path, tmp_path: Path) -> None:
    random, folder = randomness(), yolo(tmp_path / "set", [f"clip.mp4#{index}" for index in range(FRAMES)])
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    assert attempt(session, folder, folder)
    with memory_below(GIGABYTE):
        for number in range(rounds):
            path = paths[number % len(paths)]
            whole = path.read_bytes()
            path.write_bytes(damaged(whole, random))
            attempt(session, folder, folder)
            path.write_bytes(whole)


@short_and_long(60, 10_000)
def test_coco_files_with_other_values(rounds: int, session: Path, tmp_path: Path) -> None:
    path, original = tmp_path / "truth.json", coco([None] * FRAMES)
    keys = {name: sorted(original[name][0]) for name in ("images", "categories", "annotations")}
    places = st.sampled_from([(name, key) for name, some in keys.items() for key in some])

    @examples(rounds)
    @given(place=places, number=st.integers(0, 2), value=VALUES, whole=st.booleans())
    def change(place: tuple[str, str], number: int, value: object, whole: bool) -> None:
        data = json.loads(json.dumps(original))
        name, key = place
        if whole:
            data[name] = value
        else:
            data[name][number][key] = value
        path.write_text(json.dumps(data))
        attempt(session, path, path)

    with memory_below(GIGABYTE):
        change()


NUMBERS = st.integers(-(10**30), 10**30) | st.floats() | st.text(max_size=6)
"""Of a label file or an annotation, most of which are none."""


@short_and_long(50, 10_000)
def test_labels_with_other_numbers(rounds: int, session: Path, tmp_path: Path) -> None:
    folder = yolo(tmp_path / "set", [f"clip.mp4#{index}" for index in range(FRAMES)])
    labels = min(folder.glob("labels/*.txt"))
    rows = st.lists(st.lists(NUMBERS, max_size=7).map(lambda row: " ".join(map(str, row))), max_size=4).map("\n".join)
    names = st.dictionaries(st.integers() | st.text(max_size=4), VALUES, max_size=4) | VALUES
    description = folder / "data.yaml"
    whole = description.read_text()

    @examples(rounds)
    @given(text=rows, named=st.none() | names)
    def change(text: str, named: object) -> None:
        labels.write_bytes(text.encode("utf-8", "surrogatepass"))
        described = whole if named is None else yaml.safe_dump({"train": "images", "names": named}, allow_unicode=True)
        description.write_bytes(described.encode("utf-8", "surrogatepass"))
        attempt(session, folder, folder)

    with memory_below(GIGABYTE):
        change()


@short_and_long(50, 10_000)
def test_annotations_with_other_values(rounds: int, session: Path, tmp_path: Path) -> None:
    path = cvat(tmp_path / "task.xml", FRAMES)
    whole = path.read_text()
    count = len([*ElementTree.fromstring(whole).iter()])
    how = st.sampled_from(["value", "text", "remove", "copy", "name"])

    @examples(rounds)
    @given(number=st.integers(0, count - 1), key=st.integers(0, 6), value=NUMBERS, how=how)
    def change(number: int, key: int, value: object, how: str) -> None:
        root = ElementTree.fromstring(whole)
        element = [*root.iter()][number]
        keys = sorted(element.keys())
        if how == "value" and keys:
            element.set(keys[key % len(keys)], str(value))
        elif how == "remove":
            element.clear()
        elif how == "copy":
            element.extend(list(element))
        elif how == "name":
            element.tag = f"t{key}"
        else:
            element.text = str(value)
        path.write_bytes(ElementTree.tostring(root, "utf-8"))
        attempt(session, path, path)

    with memory_below(GIGABYTE):
        change()


PIECES = ("{},", '{"":{}},', "[],", '"",', "0,", " ", "[", '{"a":', '{"id":1},', '"\\u0000",', "1e9,", '{"images":[]},')


@short_and_long(1, 100)
def test_truth_that_is_large_when_unpacked(rounds: int, session: Path, tmp_path: Path) -> None:
    random, path = randomness(), tmp_path / "truth.json.gz"
    sizes = []
    with memory_below(GIGABYTE):
        for _ in range(rounds):
            pieces = "".join(PIECES[int(index)] for index in random.integers(len(PIECES), size=int(random.integers(1, 4)))).encode()
            key = (b"images", b"annotations", b"categories", b"more")[int(random.integers(4))]
            size = int(random.integers(1 << 22, 1 << 28))
            with gzip.open(path, "wb", 1) as file:
                file.write(b'{"' + key + b'":[')
                block = pieces * (1 + (1 << 20) // len(pieces))
                for _ in range(size // len(block)):
                    file.write(block)
            sizes.append(path.stat().st_size)
            assert not attempt(session, path, path)
    print(f"{rounds} of {rounds} refused; {min(sizes):,} to {max(sizes):,} bytes")
