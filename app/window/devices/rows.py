"""One line for a device, with its figures in columns, the most important ones first; and gauges for the metrics without room in it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QHelpEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from framefleet.app.window.devices.telemetry import Metric, metrics
from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.build import Clickable, column
from framefleet.app.window.widgets.painting import LEFT, RIGHT, draw_bar, draw_box, fitting, painting, pixmap, write
from framefleet.app.window.widgets.translation import marked, translate
from framefleet.engine.devices.telemetry import Telemetry
from framefleet.engine.types import DeviceId

MARGIN, GAP, LIGHT, CHECK = 8, 8, 13, 14
MAX_NAME_WIDTH = 0.34
"""The largest share of the width that names get."""


@dataclass(frozen=True)
class Column:
    """One column. sample: the widest usual text. tip: what the figure is. flexible: it takes the room that others leave."""

    heading: str
    sample: str
    tip: str
    flexible: bool = False


COLUMNS = {
    "hardware": Column("", "NVIDIA RTX 6000", "", flexible=True),
    "rate": Column(marked("devices", "frames/s"), "00,000", marked("devices", "Frames per second")),
    "p50": Column(marked("devices", "p50 ms"), "00.0 s", marked("devices", "Latency: half of the frames took at most this time, ms")),
    "p99": Column(marked("devices", "p99 ms"), "00.0 s", marked("devices", "Latency: 99 of 100 frames took at most this time, ms")),
    "load": Column(marked("devices", "Load"), "100 %", marked("devices", "The part of the time in which the device computed")),
    "memory": Column(marked("devices", "Memory"), "100 %", marked("devices", "The used part of the memory")),
    "size": Column(marked("devices", "Memory"), "140.0 GiB", marked("devices", "The memory of the device")),
    "share": Column(marked("devices", "Share"), "100 %", marked("devices", "The part of the frames that this device did")),
    "decoder": Column(marked("devices", "Decoder"), "100 %", marked("devices", "The load of the video decoder")),
    "power": Column(marked("devices", "Power"), "1,000 W", marked("devices", "The electrical power")),
    "limit": Column(marked("devices", "Waits for"), "preparation", marked("devices", "What limits the throughput of this device")),
}
"""The columns by key, the most important ones first; those without room are left out from the end."""
OF_RUN = "rate", "p50", "p99", "load", "memory", "share", "decoder", "power", "limit"
AT_REST = "hardware", "size", "load", "decoder", "power"
OF_MEMBERS = "load", "memory", "decoder", "power"


@dataclass(frozen=True)
class RowAreas:
    """The areas of one row: of the name, and of each column that fits, by key."""

    name: QRectF
    cells: Mapping[str, QRectF]


@dataclass(frozen=True)
class RowColumns:
    """Determines the widths of columns. longest: the longest device name. keys: of the columns.

    tall: rows of two lines with large figures. fast: some rates have five digits.
    """

    longest: str = ""
    keys: tuple[str, ...] = ()
    tall: bool = False
    fast: bool = False

    def font(self, key: str) -> QFont:
        """The font of a column, or of the name ("name")."""
        if key == "rate":
            return theme.font(9 if self.tall else 2, bold=True)
        return theme.font(2 if self.tall else 0, bold=True) if key == "name" else theme.font(1 if self.tall and key != "hardware" else -1)

    def areas(self, width: float, height: float) -> RowAreas:
        """Divide a row of this size, logical pixels."""
        name = min(LIGHT + QFontMetrics(self.font("name")).horizontalAdvance(self.longest) + 2, MAX_NAME_WIDTH * width)
        x, room = float(MARGIN + name + GAP), width - 2 * MARGIN - name
        if "hardware" in self.keys:  # beside it is the sign of devices that a run will use
            room -= CHECK + GAP
        small = QFontMetrics(theme.font(-2))
        widths: dict[str, float] = {}
        for key in self.keys:
            each = COLUMNS[key]
            heading = translate("devices", each.heading) if each.heading else ""
            sample = each.sample if self.fast or key != "rate" else each.sample[1:]
            least = GAP + max(QFontMetrics(self.font(key)).horizontalAdvance(sample), small.horizontalAdvance(heading))
            if widths and sum(widths.values()) + least > room:
                break
            widths[key] = least
        wide = [key for key in widths if COLUMNS[key].flexible] or list(widths)
        more = max(room - sum(widths.values()), 0.0) / max(len(wide), 1)
        cells = {}
        for key, wanted in widths.items():
            cells[key] = QRectF(x, 0, wanted - GAP + (more if key in wide else 0.0), height)
            x = cells[key].right() + GAP
        return RowAreas(QRectF(MARGIN, 0, name, height), cells)


class InColumns:
    """Part of a widget whose content is arranged in columns."""

    def __init__(self) -> None:
        super().__init__()
        self._columns = RowColumns()
        self._arranged_for: tuple[RowColumns, int, int] | None = None
        self._areas = RowAreas(QRectF(), {})

    def areas(self) -> RowAreas:
        """The areas of the columns at the present size. Measuring texts is slow, so they are kept until something changes."""
        widget = cast(QWidget, self)
        wanted = self._columns, widget.width(), widget.height()
        if wanted != self._arranged_for:
            self._arranged_for, self._areas = wanted, self._columns.areas(widget.width(), widget.height())
        return self._areas

    def set_columns(self, columns: RowColumns) -> None:
        """Arrange the columns."""
        if columns != self._columns:
            self._columns = columns
            self._arranged()
            cast(QWidget, self).update()

    def _arranged(self) -> None:
        """The columns have changed."""

    def shown_columns(self) -> tuple[str, ...]:
        """The keys of the columns that have room."""
        return tuple(self.areas().cells)


class RowHeading(InColumns, QWidget):
    """The headings of the columns of the rows below. A tooltip explains each."""

    def __init__(self) -> None:
        super().__init__()
        self._font = theme.font(-2)
        self.setFixedHeight(QFontMetrics(self._font).height())
        self.installEventFilter(self)

    def _arranged(self) -> None:
        names = (translate("devices", COLUMNS[key].heading) for key in self._columns.keys if COLUMNS[key].heading)
        self.setAccessibleName(", ".join(names))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Explain the column under the mouse."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            cells = self.areas().cells
            tips = (COLUMNS[key].tip for key, area in cells.items() if area.contains(QPointF(event.pos())))
            tip = next(tips, "")
            QToolTip.showText(event.globalPos(), translate("devices", tip) if tip else "", self)
            return True
        return super().eventFilter(watched, event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the headings."""
        areas = self.areas()
        with QPainter(self) as painter:
            painter.setFont(self._font)
            painter.setPen(QColor(theme.MUTED))
            for key, area in areas.cells.items():
                heading = COLUMNS[key].heading
                painter.drawText(area, RIGHT, translate("devices", heading) if heading else "")


BAR, PAD, SECOND_GAP = 4, 3, 3
WAITS_FOR = {
    "decode": marked("devices", "decoding"),
    "preprocess": marked("devices", "preparation"),
    "upload": marked("devices", "preparation"),
    "deliver": marked("devices", "storing"),
}
"""What a device waits for, by the stage that limits it. In other stages it computes all the time."""


@dataclass(frozen=True)
class RowContent:
    """The content of a row.

    name: of the device. colour: of its light. hardware: its name. size: its memory, as text. rate: frames/s, 0 = it does not work.
    pace: the rate as a part of the fastest device's, 0..1. slow: much slower than others of its kind. p50, p99: latencies, ms.
    share: of all frames, 0..1, None = none yet. limit: the stage that limits it, "" = unknown. used: whether a run will use it,
    None = not shown. off: the device has left the run. message: replaces the figures, "" = none. progress: of the step that the
    message names, 0..1. serious: the message is a failure.
    """

    name: str = ""
    colour: str = ""
    hardware: str = ""
    size: str = ""
    rate: float = 0.0
    pace: float | None = None
    slow: bool = False
    p50: float | None = None
    p99: float | None = None
    share: float | None = None
    metrics: tuple[Metric, ...] = ()
    limit: str = ""
    used: bool | None = None
    off: bool = False
    message: str = ""
    progress: float = 0.0
    serious: bool = False

    @property
    def rate_text(self) -> str:
        """The throughput, a dash if the device does not work."""
        return formats.rate(self.rate) if self.rate else formats.DASH

    @property
    def share_text(self) -> str:
        """The share of the frames in words."""
        return translate("devices", "{part} of the frames").format(part=formats.part(self.share or 0.0))

    @property
    def waits_for(self) -> str:
        """What the device waits for; a dash if it computes all the time."""
        return translate("devices", WAITS_FOR[self.limit]) if self.limit in WAITS_FOR else formats.DASH

    def cell(self, key: str) -> tuple[str, float | None, str]:
        """The text of a column, the filled part of its bar (None = no bar), and the colour of both, "" = the usual ones."""
        match key:
            case "rate":
                return self.rate_text, (self.pace or 0.0), theme.WARNING if self.slow else ""
            case "p50" | "p99":
                return formats.short_latency(self.p50 if key == "p50" else self.p99), None, ""
            case "share":
                return formats.DASH if self.share is None else formats.part(self.share), None, ""
            case "hardware":
                return self.hardware, None, theme.MUTED
            case "limit":
                return self.waits_for, None, ""
        name = "memory" if key == "size" else key
        metric = next((metric for metric in self.metrics if metric.key == name), None)
        text = self.size if key == "size" else metric.brief if metric is not None else formats.DASH
        unknown = "" if (metric is not None and metric.known) or key == "size" else theme.DISABLED
        return text, (metric.fraction or 0.0) if metric is not None else None, theme.WARNING if metric and metric.alarm else unknown

    @property
    def accessible_name(self) -> str:
        """The row for screen readers."""
        figures = [self.hardware, ", ".join(f"{metric.name} {metric.text}" for metric in self.metrics) or self.size]
        parts = [self.message] if self.message else figures
        if self.rate:
            parts.append(translate("devices", "{rate} frames/s").format(rate=self.rate_text))
        if self.p50 is not None:
            text = translate("devices", "latency {p50} ms, 99 of 100 frames within {p99} ms")
            parts.append(text.format(p50=formats.milliseconds(self.p50), p99=formats.milliseconds(self.p99)))
        if self.share is not None:
            parts.append(self.share_text)
        if self.limit in WAITS_FOR:
            parts.append(translate("devices", "waits for {what}").format(what=self.waits_for))
        if self.slow:
            parts.append(translate("devices", "slower than the others"))
        if self.used is not None:
            parts.append(translate("devices", "a run will use it") if self.used else translate("devices", "a run will not use it"))
        return f"{self.name}: {', '.join(filter(None, parts))}"


_FIGURE = RIGHT | Qt.TextFlag.TextDontClip
"""How figures stand in their column. Python combines flags slowly, and a row has many."""


class DeviceRow(InColumns, Clickable):
    """Draws its ``content``. A press shows or hides the details."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.content, self.opened = RowContent(), False
        self.setAccessibleDescription(translate("devices", "Shows or hides the details"))
        self._arranged()

    def _arranged(self) -> None:
        self._fonts = {key: self._columns.font(key) for key in ("name", *self._columns.keys)}
        self._first = QFontMetrics(self._fonts["rate" if "rate" in self._columns.keys else "name"]).height()
        self._second = QFontMetrics(theme.font(-2)).height() if self._columns.tall and not self.opened else 0
        self.setFixedHeight(self._first + BAR + 2 * PAD + (SECOND_GAP + self._second if self._second else 0))

    def set_opened(self, opened: bool) -> None:
        """Whether the details are shown, which name the hardware."""
        self.opened = opened
        self._arranged()

    @property
    def _idle(self) -> bool:
        """Whether the row has a message and no throughput."""
        return bool(self.content.message) and not self.content.rate

    @property
    def message_area(self) -> QRectF:
        """The place of a message: that of all columns but the throughput, and of the throughput if there is none."""
        cells = self.areas().cells
        areas = [area for key, area in cells.items() if key != "rate" or self._idle] or [QRectF()]
        return areas[0].united(areas[-1])

    def change(self, **changes: Any) -> None:
        """Change fields of the content; repaint only if one differs."""
        content = replace(self.content, **changes)
        if content != self.content:
            self.content = content
            self.setAccessibleName(content.accessible_name)
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the row: all texts on one line, the bars below them, and in tall rows the hardware below these."""
        content, areas = self.content, self.areas()
        with painting(self) as painter:
            if content.slow or self.hasFocus():
                box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
                draw_box(painter, box, 5, theme.WARNING_GROUND if content.slow else None, theme.ACCENT if self.hasFocus() else None)
            line = self._line(areas.name)
            light = QRectF(line.x(), line.center().y() - 4, 8, 8)
            unused = content.used is False
            draw_box(painter, light.adjusted(1, 1, -1, -1) if unused else light, 4, None if unused else content.colour or theme.DISABLED,
                     theme.DISABLED if unused else None)  # fmt: skip
            text = theme.DISABLED if content.off else theme.MUTED if unused else theme.TEXT
            colour = theme.WARNING if any(metric.alarm for metric in content.metrics) else text
            write(painter, line.adjusted(LIGHT, 0, 0, 0), content.name, LEFT, self._fonts["name"], colour)
            for key, area in areas.cells.items():
                if not content.message or (key == "rate" and not self._idle):
                    self._draw_cell(painter, key, area, text)
            if content.message:
                self._draw_message(painter, self.message_area)
            if content.used:
                area = QRectF(self.width() - MARGIN - CHECK, line.center().y() - CHECK / 2, CHECK, CHECK)
                painter.drawPixmap(area.toRect(), pixmap("check", CHECK, theme.GOOD))
            if self._second:
                below = QRectF(areas.name.x() + LIGHT, self.height() - PAD - self._second, self.width() - 2 * MARGIN - LIGHT, self._second)
                parts = [part for part in self._more(areas.cells) if part]
                write(painter, below, fitting(QFontMetrics(theme.font(-2)), parts, below.width()), LEFT, theme.font(-2), theme.MUTED)

    def _more(self, cells: Mapping[str, QRectF]) -> tuple[str, ...]:
        """What the second line of a tall row says. cells: the columns that have room."""
        content = self.content
        share = "" if content.share is None or "share" in cells else content.share_text
        waits = translate("devices", "waits for {what}").format(what=content.waits_for) if content.limit in WAITS_FOR else ""
        load = next((metric for metric in content.metrics if metric.key == "load" and metric.key not in cells), None)
        return content.hardware, share, f"{load.name} {load.brief}" if load is not None else "", waits

    def _draw_cell(self, painter: QPainter, key: str, area: QRectF, usual: str) -> None:
        text, fraction, colour = self.content.cell(key)
        write(painter, self._line(area), text, LEFT if COLUMNS[key].flexible else _FIGURE, self._fonts[key], colour or usual)
        if fraction is not None and text:
            full = theme.GOOD if key == "rate" else theme.ACCENT
            draw_bar(painter, self._bar(area), fraction, theme.WARNING if colour == theme.WARNING else full)

    def _draw_message(self, painter: QPainter, area: QRectF) -> None:
        content = self.content
        write(painter, self._line(area), content.message, LEFT, theme.font(-1), theme.DANGER if content.serious else theme.MUTED)
        if content.progress:
            draw_bar(painter, self._bar(area), content.progress, theme.WARNING)

    def _line(self, area: QRectF) -> QRectF:
        """The part of a cell for text."""
        return QRectF(area.x(), PAD, area.width(), self._first)

    def _bar(self, area: QRectF) -> QRectF:
        """The part of a cell for its bar."""
        return QRectF(area.x(), PAD + self._first, area.width(), BAR)


class MemberRows(QWidget):
    """A row with metrics for each of several devices that share one engine; the rows cannot be clicked."""

    def __init__(self) -> None:
        super().__init__()
        self.heading = RowHeading()
        self.rows: dict[DeviceId, DeviceRow] = {}
        self._column = column(self.heading, spacing=0, of=self)

    def show_members(self, telemetry: Mapping[DeviceId, Telemetry | None]) -> None:
        """Show these devices with their latest telemetry, None where it is unknown."""
        if tuple(telemetry) != tuple(self.rows):
            self._set_rows(telemetry)
        for device, snapshot in telemetry.items():
            self.rows[device].change(name=str(device), colour=theme.ACCENT, metrics=metrics(snapshot) if snapshot is not None else ())
        columns = RowColumns(max(map(str, telemetry), key=len), known_columns(OF_MEMBERS, (row.content for row in self.rows.values())))
        parts: list[InColumns] = [self.heading, *self.rows.values()]
        for part in parts:
            part.set_columns(columns)

    def _set_rows(self, devices: Mapping[DeviceId, object]) -> None:
        for row in self.rows.values():
            self._column.removeWidget(row)
            row.deleteLater()
        self.rows = {device: DeviceRow() for device in devices}
        for row in self.rows.values():
            row.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            row.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            self._column.addWidget(row)


def known_columns(keys: Iterable[str], rows: Iterable[RowContent]) -> tuple[str, ...]:
    """These columns without the metrics that no row has."""
    known = {metric.key for content in rows for metric in content.metrics}
    return tuple(key for key in keys if key in known or key not in ("load", "memory", "decoder", "power"))


MAX_COLUMNS = 3
"""The largest number of columns."""
GAUGE_GAP, GAUGE_BAR = 10, 3
_LEFT = Qt.AlignmentFlag.AlignLeft


class Gauges(QWidget):
    """Shows metrics in columns, each with its name, its value and a bar."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.metrics: tuple[Metric, ...] = ()
        self._caption, self._figure = theme.font(-2), theme.font(-1, bold=True)
        self._cell = QFontMetrics(self._caption).height() + QFontMetrics(self._figure).height() + 3 + GAUGE_BAR

    def show_metrics(self, metrics: Sequence[Metric]) -> None:
        """Show these metrics; repaint only if one differs."""
        if tuple(metrics) == self.metrics:
            return
        self.metrics = tuple(metrics)
        self._arrange()
        self.setAccessibleName(", ".join(f"{metric.name} {metric.text}" for metric in metrics))
        self.update()

    @property
    def columns(self) -> int:
        """The number of columns in which all names and values can be read."""
        caption, figure = QFontMetrics(self._caption), QFontMetrics(self._figure)
        texts = [(caption, metric.name) for metric in self.metrics] + [(figure, metric.text) for metric in self.metrics]
        widest = max((metrics.horizontalAdvance(text) for metrics, text in texts), default=0)
        return max(min((self.width() + GAUGE_GAP) // (widest + GAUGE_GAP), MAX_COLUMNS), 1)

    def _arrange(self) -> None:
        rows = -(-len(self.metrics) // self.columns)
        self.setFixedHeight(max(rows * (self._cell + GAUGE_GAP) - GAUGE_GAP, 0))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width leaves room for another number of columns."""
        super().resizeEvent(event)
        self._arrange()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the gauges."""
        with painting(self) as painter:
            columns = self.columns
            width = (self.width() - (columns - 1) * GAUGE_GAP) / columns
            for number, metric in enumerate(self.metrics):
                row, column = divmod(number, columns)
                self._draw(painter, QRectF(column * (width + GAUGE_GAP), row * (self._cell + GAUGE_GAP), width, self._cell), metric)

    def _draw(self, painter: QPainter, area: QRectF, metric: Metric) -> None:
        painter.setFont(self._caption)
        painter.setPen(QColor(theme.MUTED))
        painter.drawText(area, _LEFT | Qt.AlignmentFlag.AlignTop, metric.name)
        painter.setFont(self._figure if metric.known else self._caption)
        painter.setPen(QColor(theme.DISABLED if not metric.known else theme.WARNING if metric.alarm else theme.TEXT))
        painter.drawText(area.adjusted(0, 0, 0, -GAUGE_BAR - 3), _LEFT | Qt.AlignmentFlag.AlignBottom, metric.text)
        bar = QRectF(area.x(), area.bottom() - GAUGE_BAR, area.width(), GAUGE_BAR)
        draw_bar(painter, bar, metric.fraction, theme.WARNING if metric.alarm else theme.ACCENT)
