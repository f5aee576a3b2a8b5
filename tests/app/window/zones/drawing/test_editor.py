"""Editing lines and zones, without painting."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framefleet.app.window.zones.drawing.editor import ZoneEditor, nearest_edge
from framefleet.engine.zones.shapes import Line, Reference, Zone, ZoneSet, check_zones


@pytest.fixture
def editor(qapp):
    editor = ZoneEditor()
    editor.load(ZoneSet((100, 100)))
    return editor


def draw(editor, kind, *points):
    editor.begin(kind)
    for point in points:
        editor.add_point(point)
    if kind is Zone:
        editor.finish()


def test_a_line_is_complete_with_its_second_point(editor):
    draw(editor, Line, (10, 10), (90, 200))
    assert editor.zones.shapes == (Line("Line 1", (10, 10), (90, 100)),)  # points stay inside the picture
    assert (editor.selected, editor.drawing, editor.draft) == (0, None, [])


@pytest.mark.parametrize("points", [[], [(10, 10)]])
def test_a_line_is_not_complete_before_its_second_point(editor, points):
    draw(editor, Line, *points)
    editor.finish()
    assert (editor.zones.shapes, editor.drawing, editor.draft) == ((), Line, points)


def test_a_zone_needs_three_points_and_may_not_cross_itself(editor, qtbot):
    with qtbot.waitSignal(editor.refused) as refused:
        draw(editor, Zone, (10, 10), (90, 90))
    assert refused.args == ["'Zone 1' has 2 points: a zone needs at least 3."]
    assert editor.draft == [(10, 10), (90, 90)]  # the user goes on
    editor.add_point((90, 10))
    editor.add_point((10, 90))
    with qtbot.waitSignal(editor.refused) as refused:
        editor.finish()
    assert "crosses or touches itself" in refused.args[0]
    editor.remove_last_point()
    editor.finish()
    assert editor.zones.zones == (Zone("Zone 1", ((10, 10), (90, 90), (90, 10))),)


def test_undo_and_redo(editor):
    draw(editor, Line, (10, 10), (90, 90))
    draw(editor, Line, (20, 10), (90, 90))
    states = [editor.zones]
    for change in (
        lambda: editor.rename(0, "gate"),
        lambda: editor.set_classes(0, ["car"]),
        lambda: editor.set_points(1, [(5, 5), (6, 60)]),
        lambda: editor.reverse(1),
        lambda: editor.set_reference(Reference.TOP),
        lambda: (editor.select(0), editor.delete()),
    ):
        change()
        states.append(editor.zones)
    assert len(set(states)) == 7
    for state in states[-2::-1]:
        editor.undo.undo()
        assert editor.zones == state
    for state in states[1:]:
        editor.undo.redo()
        assert editor.zones == state
    assert not editor.undo.canRedo()
    assert editor.zones.lines == (Line("Line 2", (6, 60), (5, 5)),)


def test_names_are_unique(editor, qtbot):
    draw(editor, Line, (10, 10), (90, 90))
    draw(editor, Line, (20, 10), (90, 90))
    for name, message in (("LINE 2", "Another line or zone has the name 'LINE 2'."), (" ", "A line or zone needs a name.")):
        with qtbot.waitSignal(editor.refused) as refused:
            assert not editor.rename(0, name)
        assert refused.args == [message]
    assert editor.zones.shapes[0].name == "Line 1"


def test_the_nearest_edge():
    square = Zone("z", ((0, 0), (10, 0), (10, 10), (0, 10)))
    assert nearest_edge(square, (5, 1)) == (0, 1)
    assert nearest_edge(square, (-2, 5)) == (3, 2)
    assert nearest_edge(Line("l", (0, 0), (10, 0)), (13, 4)) == (0, 5)


coordinates = st.tuples(st.floats(-50, 150), st.floats(-50, 150))
acts = st.one_of(
    st.tuples(st.just("draw"), st.sampled_from([Line, Zone]), st.lists(coordinates, max_size=6)),
    st.tuples(st.sampled_from(["undo", "redo", "delete", "cancel"])),
    st.tuples(st.just("move"), st.integers(0, 3), st.lists(coordinates, min_size=2, max_size=2)),
)


@given(st.lists(acts, max_size=12))
@settings(deadline=None, max_examples=60)
def test_whatever_a_user_does_the_set_can_be_counted(steps):
    editor = ZoneEditor()
    editor.load(ZoneSet((100, 100)))
    for name, *values in steps:
        if name == "draw":
            draw(editor, values[0], *values[1])
        elif name == "move":
            if values[0] < len(editor.zones.lines) and isinstance(editor.zones.shapes[values[0]], Line):
                editor.set_points(values[0], values[1])
        elif name == "delete":
            editor.select(0 if editor.zones.shapes else None)
            editor.delete()
        elif name == "cancel":
            editor.cancel()
        else:
            getattr(editor.undo, name)()
        check_zones(editor.zones)
