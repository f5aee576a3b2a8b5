"""The search over all stored results: how many objects of which classes at once, when, and the moments that were found."""

import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from threading import Event

from PySide6.QtCore import QDateTime, QObject, QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QIcon, QImage, QPixmap, QShowEvent
from PySide6.QtWidgets import QDateTimeEdit, QDialog, QListWidget, QListWidgetItem, QSpinBox, QTreeWidgetItem, QWidget

from framefleet.app.window.context import Context, Feature
from framefleet.app.window.player.preview_client import PreviewClient
from framefleet.app.window.results.moments import StoredMoment
from framefleet.app.window.run.background import Background
from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.build import Flow, column, label, row, say, stand_beside, within_screen, wrapped
from framefleet.app.window.widgets.fields import align, clearable, combo_box, indent, plain_tree
from framefleet.app.window.widgets.translation import marked, of_engine, translate
from framefleet.engine.notices import Notice
from framefleet.engine.store.search import LEVELS, Found, Hit, Query, SearchIndex

SIZE, MIN_SIZE = (860, 600), (560, 420)
CLASSES_WIDTH = 210
PICTURE = QSize(128, 72)
"""The size of the pictures, logical pixels."""
CONFIDENCE = 0.5
"""The confidence that is chosen at first."""
PERIODS = {
    marked("search", "at any time"): None,
    marked("search", "in the last 24 hours"): timedelta(days=1),
    marked("search", "in the last 7 days"): timedelta(days=7),
    marked("search", "in the last 30 days"): timedelta(days=30),
    marked("search", "in the last year"): timedelta(days=365),
    marked("search", "between two times"): timedelta(),
}
"""The choices of a period, and how far each reaches back; 0: both times are given."""
WAIT_MS = 200
"""Time without a change after which the search starts."""
AGAIN_SECONDS = 1.5
"""Time between searches while sessions are added to the index."""


class SearchDialog(QDialog):
    """Searches stored results beside the main window. chosen: the Hit that the user clicked.

    Attributes
    ----------
    classes, search, count, confidence, period, begin, end : what to search for.
    results : a list with a row for each moment.
    said, progress, hint : how many moments there are; the state of the index; what times mean.
    """

    chosen = Signal(object)
    _indexed = Signal(int, int)

    def __init__(self, index: SearchIndex, background: Background, preview: PreviewClient, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("search", "Search all results"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._index, self._background, self._preview = index, background, preview
        self._stop = Event()
        self._search_stop = Event()
        self._number = 0
        self._searched = 0.0
        self.search = clearable(translate("search", "Filter classes"))
        titles = [translate("search", "Class"), translate("search", "Files")]
        self.classes = plain_tree(translate("search", "Classes"), titles, (1,))
        self.count = QSpinBox(minimum=1, maximum=999)
        self.count.setAccessibleName(translate("search", "Objects at once"))
        self.count.setFixedWidth(72)
        indent(self.count)
        self.confidence = combo_box(translate("search", "Confidence from"), {level: f"{round(100 * level)} %" for level in LEVELS})
        self.confidence.setCurrentIndex(LEVELS.index(CONFIDENCE))
        self.period = combo_box(translate("search", "Time"), {number: translate("search", name) for number, name in enumerate(PERIODS)})
        now = QDateTime.currentDateTime()
        self.begin, self.end = (
            _time_field(name, at) for name, at in ((marked("search", "From"), now.addDays(-7)), (marked("search", "To"), now))
        )
        self.results = QListWidget()
        self.results.setUniformItemSizes(True)
        self.results.setAccessibleName(translate("search", "Moments"))
        self.results.setIconSize(PICTURE)
        self.results.setSpacing(2)
        self.results.setProperty("role", "picks")
        self.results.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.said, self.progress, self.problem = label("strong"), label("small"), wrapped("error")
        hint = translate("search", "Times are those of the recording or, if they are unknown, of the detection. A click shows the moment.")
        self.hint = label("small", hint, wrap=True)
        self._lay_out()
        self._connect()
        self.setMinimumSize(within_screen(self, *MIN_SIZE))
        self.resize(within_screen(self, *SIZE))
        self._update_index()

    def _lay_out(self) -> None:
        def titled(text: str, *fields: QWidget) -> QWidget:
            made = QWidget()
            row(label("muted", text), *fields, spacing=6, of=made)
            return made

        times = self.between = QWidget()
        row(self.begin, label("muted", "–"), self.end, spacing=6, of=times)
        times.hide()
        left = QWidget()
        left.setFixedWidth(CLASSES_WIDTH)
        column(self.search, (self.classes, 1), spacing=8, of=left)
        fields = Flow(
            titled(translate("search", "At least"), self.count, label("muted", translate("search", "at once"))),
            titled(translate("search", "Confidence from"), self.confidence),
            titled(translate("search", "Time"), self.period),
            times,
            spacing=12,
        )
        right = QWidget()
        column(fields, row(self.said, None, self.progress), (self.results, 1), self.problem, self.hint, spacing=10, of=right)
        row(left, (right, 1), spacing=16, margins=(16, 16, 16, 14), of=self)

    def _connect(self) -> None:
        self._soon = QTimer(self, singleShot=True, interval=WAIT_MS)
        self._soon.timeout.connect(self._start)
        self._pictures = QTimer(self, singleShot=True, interval=WAIT_MS)
        self._pictures.timeout.connect(self._fetch)
        self.classes.itemChanged.connect(self._soon.start)
        self.count.valueChanged.connect(self._soon.start)
        for box in (self.confidence, self.period):
            box.currentIndexChanged.connect(self._soon.start)
        for field in (self.begin, self.end):
            field.dateTimeChanged.connect(self._soon.start)
        self.period.currentIndexChanged.connect(lambda number: self.between.setVisible(number == len(PERIODS) - 1))
        self.search.textChanged.connect(self._filter)
        self.results.itemClicked.connect(self._choose)
        self.results.itemActivated.connect(self._choose)
        self.results.verticalScrollBar().valueChanged.connect(self._pictures.start)
        self._preview.moment_arrived.connect(self._show_picture)
        self._indexed.connect(self._show_progress)

    def showEvent(self, event: QShowEvent) -> None:
        """Stand beside the main window."""
        super().showEvent(event)
        if not event.spontaneous():
            stand_beside(self)

    def closeEvent(self, event: QCloseEvent) -> None:
        """End the work in the background."""
        self._end()
        super().closeEvent(event)

    def reject(self) -> None:
        """End the work in the background when the user presses Escape."""
        self._end()
        super().reject()

    def _end(self) -> None:
        self._stop.set()
        self._search_stop.set()
        self._preview.fetch_moments((), (1, 1))

    # the index

    def _update_index(self) -> None:
        """Add what is new to the index, in the background, and search meanwhile."""
        self._show_labels()

        def work() -> None:
            paths = self._index.outdated()
            for number, path in enumerate(paths):
                if self._stop.is_set():
                    return
                self._indexed.emit(number, len(paths))
                self._index.update(path, self._stop)

        def done(_: None) -> None:
            self.progress.setText("")
            self._show_labels()

        self._background.start(self, work, done, self._fail, self._stop)

    def _show_progress(self, number: int, count: int) -> None:
        self.progress.setText(translate("search", "reading new results: {part}").format(part=formats.percent(number / count)))
        if time.monotonic() - self._searched > AGAIN_SECONDS:
            self._show_labels()

    def _show_labels(self) -> None:
        """Read the classes, and search again."""
        self._searched = time.monotonic()
        self._background.start(self, self._index.labels, self._list_classes, self._fail, self._stop)

    def _list_classes(self, found: Sequence[tuple[str, int]]) -> None:
        chosen = set(self.labels)
        with QSignalBlocker(self.classes):
            self.classes.clear()
            for name, files in found:
                line = QTreeWidgetItem(self.classes, [name, formats.count(files)])
                line.setCheckState(0, Qt.CheckState.Checked if name in chosen else Qt.CheckState.Unchecked)
                align(line, (1,))
        self._filter(self.search.text())
        self._start()

    def _filter(self, text: str) -> None:
        for line in self._lines():
            line.setHidden(text.strip().casefold() not in line.text(0).casefold())

    def _lines(self) -> list[QTreeWidgetItem]:
        lines = (self.classes.topLevelItem(number) for number in range(self.classes.topLevelItemCount()))
        return [line for line in lines if line is not None]

    # the search

    @property
    def labels(self) -> tuple[str, ...]:
        """The chosen classes, none: all."""
        return tuple(line.text(0) for line in self._lines() if line.checkState(0) is Qt.CheckState.Checked)

    @property
    def query(self) -> Query:
        """What to search for."""
        back = [*PERIODS.values()][self.period.currentIndex()]
        begin = end = None
        if back == timedelta():
            begin, end = (_moment(each) for each in (self.begin, self.end))
        elif back is not None:
            begin = datetime.now().astimezone() - back
        return Query(self.labels, self.count.value(), self.confidence.currentData(), begin, end)

    def _start(self) -> None:
        """Search, and show the result unless another search has started by then."""
        self._soon.stop()
        self._search_stop.set()
        self._search_stop, self._number = Event(), self._number + 1
        number, query = self._number, self.query
        self._searched = time.monotonic()

        def done(found: Found) -> None:
            if number == self._number:
                self._show(found, query.labels)

        self._background.start(self, partial(self._index.search, query, stop=self._search_stop), done, self._fail, self._search_stop)

    def _show(self, found: Found, labels: Sequence[str]) -> None:
        say(self.problem, "")
        self.said.setText(_summary(found) if self.classes.topLevelItemCount() else translate("search", "No stored results yet"))
        at = self.results.currentRow()
        before = {hit: item.icon() for item in self._items() if (hit := item.data(Qt.ItemDataRole.UserRole)) is not None}
        self.results.clear()
        for hit in found.hits:
            line = QListWidgetItem(before.get(hit) or _blank(), _describe(hit, labels), self.results)
            line.setData(Qt.ItemDataRole.UserRole, hit)
            line.setToolTip(f"{hit.file}\n{hit.database}")
        self.results.setCurrentRow(min(at, len(found.hits) - 1))
        self._pictures.start()

    def _items(self) -> list[QListWidgetItem]:
        return [self.results.item(number) for number in range(self.results.count())]

    def _fail(self, message: Notice) -> None:
        say(self.problem, of_engine(message, capital=True))

    def _choose(self, line: QListWidgetItem) -> None:
        self.chosen.emit(line.data(Qt.ItemDataRole.UserRole))

    # the pictures

    def _fetch(self) -> None:
        """Request the pictures that are visible and not there yet."""
        area = self.results.viewport().rect()
        visible = (line for line in self._items() if self.results.visualItemRect(line).intersects(area))
        hits = [line.data(Qt.ItemDataRole.UserRole) for line in visible if not line.data(Qt.ItemDataRole.UserRole + 1)]
        size = PICTURE * self.devicePixelRatio()
        self._preview.fetch_moments([(str(hit.file), hit.pts) for hit in hits], (size.width(), size.height()))

    def _show_picture(self, path: str, pts: float, image: QImage | None) -> None:
        for line in self._items():
            hit: Hit = line.data(Qt.ItemDataRole.UserRole)
            if (str(hit.file), hit.pts) == (path, pts):
                line.setData(Qt.ItemDataRole.UserRole + 1, True)
                if image is not None:
                    pixmap = QPixmap.fromImage(image)
                    pixmap.setDevicePixelRatio(self.devicePixelRatio())
                    line.setIcon(QIcon(pixmap))


def _time_field(name: str, at: QDateTime) -> QDateTimeEdit:
    made = QDateTimeEdit(at)
    made.setDisplayFormat("yyyy-MM-dd HH:mm")
    made.setCalendarPopup(True)
    made.setAccessibleName(translate("search", name))
    return made


def _moment(field: QDateTimeEdit) -> datetime:
    return datetime.fromtimestamp(field.dateTime().toSecsSinceEpoch()).astimezone()


def _blank() -> QIcon:
    """A place for a picture that has not come yet."""
    made = QPixmap(PICTURE)
    made.fill(theme.STAGE)
    return QIcon(made)


def _summary(found: Found) -> str:
    shown = len(found.hits)
    if found.total is None and not shown:
        return translate("search", "No such moment where it is most likely; choose fewer classes to look everywhere")
    if found.total is None:
        return translate("search", "The first %Ln moments; there may be more", None, shown)
    if found.total > shown:
        return translate("search", "%Ln moments, the latest {shown} of them here", None, found.total).format(shown=formats.count(shown))
    return translate("search", "%Ln moments", None, found.total) if shown else translate("search", "No such moment in the stored results")


def _describe(hit: Hit, labels: Sequence[str]) -> str:
    """A moment in three lines: the file, what is visible, and when."""
    what = f"{formats.count(hit.count)} × {', '.join(labels)}" if labels else formats.plural(hit.count, "object")
    if hit.pictures:
        place = translate("search", "picture {number}").format(number=formats.count(round(hit.pts) + 1))
    else:
        place = formats.clock(hit.pts - hit.origin)
        if hit.end - hit.begin >= 1:
            span = (formats.clock(each - hit.origin) for each in (hit.begin, hit.end))
            place += translate("search", " (seen from {begin} to {end})").format(**dict(zip(("begin", "end"), span, strict=True)))
    known = translate("search", "recorded {time}") if hit.time is not None else translate("search", "detected {time}")
    when = known.format(time=f"{(hit.time or hit.detected).astimezone():%Y-%m-%d %H:%M}")
    return "\n".join((hit.name, f"{what} · {place}", when))


class Search(QObject):
    """Opens the dialog, or brings it to the front."""

    def __init__(self, context: Context) -> None:
        super().__init__(context.window)
        self._context = context
        self._dialog: SearchDialog | None = None

    def show(self) -> None:
        """Show the dialog."""
        context = self._context
        if self._dialog is None:
            self._dialog = dialog = SearchDialog(SearchIndex(context.folder), context.background, context.preview, context.window)
            dialog.chosen.connect(self._choose)
            dialog.destroyed.connect(self._forget)
            dialog.show()
        self._dialog.raise_()
        self._dialog.activateWindow()

    def _forget(self) -> None:
        self._dialog = None

    def _choose(self, hit: Hit) -> None:
        self._context.moments.show(StoredMoment(hit.database, hit.file, hit.name, hit.pts))


def attach(context: Context) -> Feature:
    """Let the user search all stored results."""
    search = Search(context)
    context.actions.search.triggered.connect(search.show)
    return Feature()
