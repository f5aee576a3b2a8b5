from __future__ import annotations

import pytest

from framefleet.engine.model.files import class_ids
from framefleet.engine.notices import UsageError

LABELS = ("person", "traffic light", "car", "cat")


def test_labels_and_ids() -> None:
    assert class_ids(None, LABELS) is None
    assert class_ids(["Traffic Light", "3", "car"], LABELS) == {1, 2, 3}


def test_a_label_that_is_a_number_is_a_label() -> None:
    assert class_ids(["7"], ["7", "8"]) == {0}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("persn", "no class 'persn': did you mean person?"),
        ("zebra", "no class 'zebra': it has person, traffic light, car, cat"),
        ("4", "class id 4: this model has 4 classes, 0 to 3"),
        ("-1", "no class '-1'"),
    ],
)
def test_unknown_classes(name: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        class_ids([name], LABELS)
    assert message in str(error.value)


def test_of_many_labels_some_are_named() -> None:
    with pytest.raises(UsageError, match=r"this model has no class 'zebra': it has a0, a1, .* and \d+ more"):
        class_ids(["zebra"], [f"a{number}" for number in range(80)])


def test_a_name_means_all_classes_that_have_it() -> None:
    assert class_ids(["Person", "car"], ("person", "car", "person", "cat", "PERSON")) == {0, 1, 2, 4}
