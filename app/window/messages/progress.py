"""Shows the progress where the user looks: in the window's title, at the desktop's launcher, and in a notification at the end."""

import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, QProcess, QTimer, Signal
from PySide6.QtWidgets import QApplication

from framefleet.app.window.context import Context, Feature
from framefleet.app.window.queue.item import ItemState
from framefleet.app.window.queue.model import QueueModel
from framefleet.app.window.widgets.translation import translate

SOON_MS = 500
"""Changes of the queue within this time cause one update."""


class Progress(QObject):
    """The progress of the files that are being detected together: from the first one that waits until none does. Streams have none.

    changed: the finished part of all of them, 0..1, None = unknown, or nothing runs; and their number. ended: the numbers of finished
    and of failed files.
    """

    changed = Signal(object, int)
    ended = Signal(int, int)

    def __init__(self, queue: QueueModel, parent: QObject) -> None:
        super().__init__(parent)
        self._queue = queue
        self._keys: set[int] = set()
        self._shown: tuple[float | None, int] = None, 0
        self._soon = QTimer(self, singleShot=True, interval=SOON_MS)
        self._soon.timeout.connect(self.look)

    def look_soon(self, *_: object) -> None:
        """Look at the queue soon."""
        if not self._soon.isActive():
            self._soon.start()

    def look(self) -> None:
        """Look at the queue."""
        items = {item.key: item for item in self._queue}
        self._keys = (self._keys | {key for key, item in items.items() if item.active and not item.live}) & items.keys()
        together = [items[key] for key in self._keys]
        parts = [1.0 if item.ended else 0.0 if item.state is ItemState.WAITING else item.fraction for item in together]
        runs = any(item.state is ItemState.RUNNING for item in together)
        known = [part for part in parts if part is not None]
        fraction = sum(known) / len(parts) if runs and len(known) == len(parts) else None
        now = (fraction, len(together)) if fraction is not None else (None, 0)
        if now != self._shown:
            self._shown = now
            self.changed.emit(*now)
        if together and all(item.ended for item in together):
            done, failed = (sum(item.state is state for item in together) for state in (ItemState.DONE, ItemState.FAILED))
            self._keys.clear()
            if done + failed:
                self.ended.emit(done, failed)


NOTIFICATIONS = "org.freedesktop.Notifications"


class Desktop:
    """Passes progress and notifications to the desktop by D-Bus, as Unity and freedesktop.org define them. It needs no such desktop.

    connect: returns the connection to the session's bus, for tests.
    """

    def __init__(self, connect: Callable[[], Any] | None = None) -> None:
        self._connect = connect
        self._bus: Any = None
        self._answer: Any = None

    def show_progress(self, fraction: float | None) -> None:
        """Show the finished part at the program's icon, None = none."""
        state = {"progress": fraction or 0.0, "progress-visible": fraction is not None}
        arguments = ["application://framefleet.desktop", state]
        self._send(
            "createSignal", "/com/canonical/unity/launcherentry/1", "com.canonical.Unity.LauncherEntry", "Update", arguments=arguments
        )

    def notify(self, title: str, text: str) -> None:
        """Show a notification; it replaces the last one. Without a portal, the desktop's own service shows it."""
        portal = "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop", "org.freedesktop.portal.Notification"
        refused = partial(_notify, title, text)
        self._send("createMethodCall", *portal, "AddNotification", arguments=["end", {"title": title, "body": text}], refused=refused)

    def _send(self, kind: str, *parts: str, arguments: list[Any], refused: Callable[[], object] | None = None) -> None:
        """Send a message. refused: called if it is a method call that fails."""
        if sys.platform != "linux":
            return
        from PySide6.QtDBus import QDBusConnection, QDBusMessage, QDBusPendingCallWatcher  # loaded when there is something to say

        if self._bus is None:
            self._bus = self._connect() if self._connect is not None else QDBusConnection.sessionBus()
        if self._bus.isConnected():
            message = getattr(QDBusMessage, kind)(*parts)
            message.setArguments(arguments)
            if refused is None:
                self._bus.send(message)
                return
            self._answer = QDBusPendingCallWatcher(self._bus.asyncCall(message))
            self._answer.finished.connect(lambda answer: refused() if answer.isError() else None)


def _notify(title: str, text: str) -> None:
    """Show a notification by the service that most desktops have. A program sends it: PySide has no unsigned integers for D-Bus."""
    method = "--dest", NOTIFICATIONS, "--object-path", "/org/freedesktop/Notifications", "--method", f"{NOTIFICATIONS}.Notify"
    texts = json.dumps(title, ensure_ascii=False), json.dumps(text, ensure_ascii=False)
    arguments = "'Framefleet'", "uint32 0", "'framefleet'", *texts, "@as []", "@a{sv} {}", "int32 -1"
    QProcess.startDetached("gdbus", ["call", "--session", *method, "--", *arguments])


def attach(context: Context) -> Feature:
    """Show the progress of the window's queue."""
    progress, desktop, window = Progress(context.queue, context.window), Desktop(), context.window

    def ended(done: int, failed: int) -> None:
        """Say that all files are done to a user who looks at something else."""
        if QApplication.activeWindow() is not None:
            return
        QApplication.alert(window)
        problems = translate("messages", "%Ln files failed.", None, failed) if failed else ""
        text = translate("messages", "Detection has ended in %Ln files.", None, done + failed)
        desktop.notify(translate("messages", "Detection has ended"), f"{text} {problems}".strip())

    for changed in (context.queue.rowsInserted, context.queue.rowsRemoved, context.run.item_changed):
        changed.connect(progress.look_soon)
    progress.changed.connect(lambda fraction, _number: desktop.show_progress(fraction))
    progress.changed.connect(context.requests.progress)
    progress.ended.connect(ended)
    return Feature(stop=lambda: desktop.show_progress(None))
