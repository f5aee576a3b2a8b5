"""Names in the chart of models cover neither each other nor marks."""

from __future__ import annotations

from itertools import combinations

import pytest
from PySide6.QtCore import QLineF
from pytestqt.qtbot import QtBot

from framefleet.app.scaling_results import Speed
from framefleet.app.window.models.chart import MARGIN, NEAR, ModelChart
from framefleet.engine.model.registry.catalogue import FAMILY


@pytest.mark.parametrize("width", [800, 1040, 1600])
@pytest.mark.parametrize("ran", [False, True])
def test_names_do_not_cover_each_other(qtbot: QtBot, width: int, ran: bool) -> None:
    chart = ModelChart(FAMILY)
    qtbot.addWidget(chart)
    chart.resize(width, chart.height())
    chart.show()
    chart.show_speeds({entry.name: Speed(33.1, "CPU") for entry in FAMILY} if ran else {})
    areas = [name.mapRectToScene(name.boundingRect().adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)) for name in chart._names]
    assert len(areas) == len(FAMILY)
    for one, other in combinations(areas, 2):
        assert (one & other).isEmpty()


def test_a_name_away_from_its_mark_has_a_line_to_it(qtbot: QtBot) -> None:
    chart = ModelChart(FAMILY)
    qtbot.addWidget(chart)
    chart.resize(1040, chart.height())
    chart.show()
    lengths = []
    for name, leader in chart._names.items():
        end = leader.line().p2()
        area = name.boundingRect().adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
        away = QLineF(0, 0, min(max(0, area.left()), area.right()), min(max(0, area.top()), area.bottom())).length()
        assert leader.line().isNull() == (away <= NEAR)
        assert leader.line().isNull() or area.adjusted(-1, -1, 1, 1).contains(end)
        lengths.append(leader.line().length())
    assert max(lengths) > 0


def test_each_tick_of_the_work_has_room_for_its_number(qtbot: QtBot) -> None:
    chart = ModelChart(FAMILY)
    (least, most), _ = chart.item.vb.viewRange()
    ticks = [place for place, _ in chart.item.getAxis("bottom")._tickLevels[0]]
    assert least + 0.03 < min(ticks)
    assert max(ticks) < most - 0.03
