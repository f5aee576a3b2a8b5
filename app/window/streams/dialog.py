"""The dialog that opens a camera or stream: its address, user and password, a test, and the last streams."""

import importlib
import importlib.util
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QSettings, QSize, Qt, Signal
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import QCheckBox, QDialog, QLabel, QLineEdit, QListWidget, QListWidgetItem, QProgressBar, QWidget

from framefleet.app.window.run.background import Background
from framefleet.app.window.widgets import fields, formats, theme
from framefleet.app.window.widgets.build import column, label, push_button, row, say, tool_button, wrapped
from framefleet.app.window.widgets.translation import of_engine, translate
from framefleet.engine.media.live.address import LiveAddress, LiveKind
from framefleet.engine.media.live.trial import Trial, try_source
from framefleet.engine.notices import Notice, SourceError, UsageError, literal

WIDTH = 560
PICTURE = QSize(208, 117)
"""The size of the picture of a test, logical pixels."""
KEY, MAX_RECENT = "window/streams", 10
SERVICE = "framefleet"
"""The name under which the system's key ring keeps passwords."""


class RecentStreams:
    """The addresses of the last streams in the stored preferences, without users and passwords."""

    def __init__(self, store: QSettings) -> None:
        self._store = store

    @property
    def addresses(self) -> list[str]:
        """The addresses, the last one first."""
        stored = self._store.value(KEY) or []
        return [stored] if isinstance(stored, str) else [str(each) for each in stored]  # of one text Qt makes no list

    def add(self, address: LiveAddress) -> None:
        """Put an address at the top of the list."""
        self._store.setValue(KEY, list(dict.fromkeys([str(address), *self.addresses]))[:MAX_RECENT])

    def remove(self, address: str) -> None:
        """Remove an address."""
        self._store.setValue(KEY, [each for each in self.addresses if each != address])


def key_ring_exists() -> bool:
    """Whether the library ``keyring``, which keeps passwords in the system's key ring, is installed."""
    return importlib.util.find_spec("keyring") is not None


def _key_ring() -> tuple[Any, type[Exception]]:
    """The library ``keyring`` and the type of its errors. The library is optional: without it, no password is kept."""
    return importlib.import_module("keyring"), importlib.import_module("keyring.errors").KeyringError


def keep_password(address: LiveAddress) -> None:
    """Keep user and password in the system's key ring. It may ask the user. Raises SourceError if it refuses."""
    keyring, problem = _key_ring()
    assert address.user is not None
    try:
        keyring.set_password(SERVICE, address.host, f"{address.user}\n{address.password or ''}")
    except problem as error:
        raise SourceError(literal(translate("streams", "The key ring does not keep the password: {why}").format(why=error))) from error


def kept_login(host: str) -> tuple[str, str] | None:
    """The user and password that the system's key ring keeps for a host, None without any."""
    keyring, problem = _key_ring()
    try:
        kept = keyring.get_password(SERVICE, host)
    except problem:
        return None
    return None if kept is None else (kept.partition("\n")[0], kept.partition("\n")[2])


class StreamDialog(QDialog):
    """Asks for a stream. chosen: the LiveAddress to open. password_lost: why the key ring did not keep the password.

    Attributes: address, user, password: the fields. keep: whether the key ring shall keep user and password. recent: the last streams.
    found, picture: what a test has found. problem: why it failed, or what is wrong with the address.
    """

    chosen = Signal(object)
    password_lost = Signal(object)

    def __init__(self, recent: RecentStreams, background: Background, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("streams", "Open stream"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._recent, self._background = recent, background
        self._stop: threading.Event | None = None
        self._asked = ""  # the host for which the key ring was asked
        self.address = fields.clearable(translate("streams", "rtsp://192.168.1.20:554/stream1"))
        self.address.setAccessibleName(translate("streams", "Address"))
        self.user, self.password = fields.clearable(translate("streams", "if the camera asks for it")), fields.clearable("")
        self.user.setAccessibleName(translate("streams", "User"))
        self.password.setAccessibleName(translate("streams", "Password"))
        self.password.setEchoMode(QLineEdit.EchoMode.Password)
        self.hint = label(
            "small",
            translate("streams", "rtsp://…, http://… (MJPEG, HLS or a video file), or camera:0 for a camera of this machine"),
            wrap=True,
        )
        self.keep = QCheckBox(translate("streams", "Keep user and password in the system's key ring"))
        self.keep.setVisible(key_ring_exists())
        self.progress = QProgressBar(minimum=0, maximum=0, textVisible=False)
        self.progress.setFixedHeight(6)
        self.progress.setAccessibleName(translate("streams", "The stream is being tested"))
        self.problem, self.found = wrapped("error"), label("strong", wrap=True)
        self.picture = QLabel()
        self.picture.setFixedSize(PICTURE)
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.picture.setStyleSheet(f"background: {theme.STAGE}; border-radius: 6px;")
        self.picture.setAccessibleName(translate("streams", "Picture of the stream"))
        self.recent = QListWidget()
        self.recent.setAccessibleName(translate("streams", "Last streams"))
        self.recent.setProperty("role", "picks")
        self.test = push_button(translate("streams", "Test"), self._test_clicked)
        self.open_ = push_button(translate("streams", "Open"), self._open, role="primary")
        self.open_.setDefault(True)
        self._lay_out()
        self.address.textChanged.connect(self._changed)
        for field in (self.user, self.password):
            field.textChanged.connect(self._stop_test)
        self.recent.currentItemChanged.connect(lambda item, _: self.fill(item.data(Qt.ItemDataRole.UserRole)) if item is not None else None)
        self.recent.itemActivated.connect(lambda _: self._open())
        self.finished.connect(self._stop_test)
        self._list_recent()
        self._changed()

    def _lay_out(self) -> None:
        def titled(field: QWidget) -> QWidget:
            made = QWidget()
            column(label("muted", field.accessibleName()), field, spacing=4, of=made)
            return made

        login = row((titled(self.user), 1), (titled(self.password), 1), spacing=12)
        self.outcome = QWidget()
        row(self.picture, (column(self.found, None, margins=(0, 4, 0, 0)), 1), spacing=14, of=self.outcome)
        self.outcome.hide()
        self.lasts = QWidget()
        column(label("muted", self.recent.accessibleName()), self.recent, spacing=4, of=self.lasts)
        shut = push_button(translate("streams", "Cancel"), self.reject)
        below = row(self.test, None, shut, self.open_, spacing=8)
        address = column(titled(self.address), self.hint, spacing=4)
        parts = (address, login, self.keep, self.progress, self.problem, self.outcome, self.lasts)
        column(*parts, None, below, spacing=12, margins=(20, 18, 20, 16), of=self)
        self.progress.hide()
        self.setMinimumWidth(WIDTH)

    def _list_recent(self) -> None:
        self.recent.clear()
        for address in self._recent.addresses:
            item = QListWidgetItem(self.recent)
            item.setData(Qt.ItemDataRole.UserRole, address)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, address)
            remove = tool_button("close", translate("streams", "Remove {address}").format(address=address))
            remove.clicked.connect(partial(self._remove, address))
            line = QWidget()
            row((label("", address), 1), remove, margins=(8, 0, 4, 0), of=line)
            item.setSizeHint(QSize(0, 32))
            self.recent.setItemWidget(item, line)
        self.lasts.setVisible(self.recent.count() > 0)
        self.recent.setFixedHeight(32 * min(self.recent.count(), 4) + 8)

    def _remove(self, address: str) -> None:
        self._recent.remove(address)
        self._list_recent()

    def fill(self, text: str) -> None:
        """Show an address. Its user and password go into their fields."""
        try:
            address = LiveAddress.read(text.strip())
        except UsageError:
            address = None
        if address is None or address.kind in (LiveKind.CAMERA, LiveKind.FILE):
            self.address.setText(text.strip())
            return
        self.address.setText(address.target)
        self.address.setCursorPosition(0)
        if address.user is not None:
            self.user.setText(address.user)
            self.password.setText(address.password or "")

    @property
    def chosen_address(self) -> LiveAddress | None:
        """The address in the fields; None if they hold no address. Raises UsageError if the address has no host."""
        address = LiveAddress.read(self.address.text().strip())
        if address is not None and self.user.text() and address.host:
            address = replace(address, user=self.user.text(), password=self.password.text() or None)
        return address

    def _read(self) -> LiveAddress | None:
        """The address; None, with a message, if it is none."""
        try:
            address = self.chosen_address
        except UsageError as error:
            say(self.problem, of_engine(error.notice, capital=True))
            return None
        if address is None:
            said = translate("streams", "This is not an address of a stream: it begins with rtsp://, http:// or camera:.")
            say(self.problem, said)
        return address

    def _changed(self) -> None:
        self._stop_test()
        text = self.address.text().strip()
        try:
            address = LiveAddress.read(text)
        except UsageError:
            address = None
        if address is not None and address.user is not None:  # typed or pasted into the address, where everybody can read it
            self.fill(text)
            return
        for button in (self.test, self.open_):
            button.setEnabled(bool(text))
        for field in (self.user, self.password, self.keep):
            field.setEnabled(address is None or bool(address.host))
        if address is not None and address.host and address.host != self._asked and not self.keep.isHidden():
            self._asked = host = address.host
            self._background.start(self, partial(kept_login, host), partial(self._kept, host), lambda _: None)

    def _kept(self, host: str, login: tuple[str, str] | None) -> None:
        """Fill in what the key ring has for the host, unless the user was faster."""
        if login is not None and host == self._asked and not self.user.text():
            self.user.setText(login[0])
            self.password.setText(login[1])
            self.keep.setChecked(True)

    def _test_clicked(self) -> None:
        if self._stop is not None:
            self._stop_test()
            return
        if (address := self._read()) is None:
            return
        self._clear()
        stop = self._stop = threading.Event()
        self.progress.show()
        self.test.setText(translate("streams", "End the test"))
        size = PICTURE * self.devicePixelRatio()
        work = partial(try_source, address, (size.width(), size.height()), stop)
        self._background.start(self, work, self._ending(stop, self._show_found), self._ending(stop, self._show_problem), stop)

    def _ending(self, stop: threading.Event, show: Callable[[object], None]) -> Callable[[object], None]:
        """Return a function that shows a test's result, unless the test was stopped."""

        def ended(result: object) -> None:
            if self._stop is stop:
                self._stop_test()
                show(result)

        return ended

    def _stop_test(self, *_: object) -> None:
        if self._stop is not None:
            self._stop.set()
            self._stop = None
        self.test.setText(translate("streams", "Test"))
        self._clear()

    def _clear(self) -> None:
        self.progress.hide()
        self.outcome.hide()
        say(self.problem, "")

    def _show_problem(self, why: object) -> None:
        assert isinstance(why, Notice)
        say(self.problem, of_engine(why, capital=True))

    def _show_found(self, trial: object) -> None:
        assert isinstance(trial, Trial)
        image = QImage(trial.pixels, trial.picture_width, trial.picture_height, 4 * trial.picture_width, QImage.Format.Format_RGB32)
        shown = QPixmap.fromImage(image)
        shown.setDevicePixelRatio(self.devicePixelRatio())
        self.picture.setPixmap(shown)
        self.picture.setFixedSize(shown.deviceIndependentSize().toSize())  # else a narrow picture stands away from the edge
        self.found.setText(found_text(trial))
        self.outcome.show()

    def _open(self) -> None:
        if (address := self._read()) is None:
            return
        self._recent.add(address)
        if self.keep.isChecked() and not self.keep.isHidden() and address.user is not None:
            parent = self.parentWidget()
            self._background.start(parent or self, partial(keep_password, address), lambda _: None, self.password_lost.emit)
        self.chosen.emit(address)
        self.accept()


def found_text(trial: Trial) -> str:
    """What a test has found: the codec, the size and the rate."""
    lines = [f"{codec_name(trial.codec)} · {trial.width} × {trial.height}"]
    if trial.rate is not None:
        lines.append(translate("streams", "{rate} frames/s").format(rate=formats.rate(trial.rate)))
    if trial.declared is not None and (trial.rate is None or abs(trial.rate - trial.declared) > 0.1 * trial.declared):
        lines.append(translate("streams", "The source states {rate} frames/s").format(rate=formats.rate(trial.declared)))
    return "\n".join(lines)


def codec_name(codec: str) -> str:
    """The usual name of a codec. codec: FFmpeg's name."""
    return {"h264": "H.264", "hevc": "H.265 (HEVC)", "mjpeg": "MJPEG", "av1": "AV1", "libdav1d": "AV1", "vp9": "VP9"}.get(codec, codec)
