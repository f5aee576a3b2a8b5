"""Messages about the run: missing devices, failures, and the question before quitting."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMessageBox, QWidget

from framefleet.app.window.context import Context, Feature
from framefleet.app.window.devices.status import DeviceStatus, Phase, reason_of
from framefleet.app.window.queue.model import QueueModel
from framefleet.app.window.queue.opening import listed
from framefleet.app.window.widgets.banner import BannerArea, Severity
from framefleet.app.window.widgets.questions import ask
from framefleet.app.window.widgets.translation import of_engine, translate
from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import DeviceFailed


class RunMessages(QObject):
    """Shows a banner for each event that concerns the user, and removes it when it is over. settings_requested: open the settings."""

    settings_requested = Signal()

    def __init__(self, banners: BannerArea, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._banners = banners
        self._settings = (translate("messages", "Settings…"), self.settings_requested.emit)
        self._missing: tuple[DeviceDescription, ...] = ()
        self._cpu_only = False

    def device_failed(self, event: DeviceFailed) -> None:
        """Show that a device failed, and whether it is restarted."""
        subject, reason = f"device {event.device}", reason_of(event)
        if event.restarting:
            self._banners.show_banner(
                subject,
                Severity.WARNING,
                translate("messages", "{device} is being restarted").format(device=event.device),
                details=reason,
            )
        else:
            title = translate("messages", "{device} failed and is out of this run").format(device=event.device)
            self._banners.show_banner(subject, Severity.ERROR, title, self._settings, details=reason)

    def devices_changed(self, statuses: Sequence[DeviceStatus]) -> None:
        """Remove banners about devices that work again or have left; show or remove the CPU fallback."""
        for status in statuses:
            if status.phase in (Phase.READY, Phase.LEFT):
                self._banners.remove(f"device {status.device}")
            if status.phase is Phase.READY:
                self._banners.remove("session")  # detection works again
        kinds = {member.kind for status in statuses if status.phase is not Phase.LEFT for member in status.device.members}
        if (kinds == {"cpu"}) is not self._cpu_only:
            self._cpu_only = not self._cpu_only
            self._show_fallback()

    def devices_found(self, found: Sequence[DeviceDescription]) -> None:
        """Remember which devices of this machine cannot be used."""
        self._missing = tuple(description for description in found if description.id.kind != "cpu" and not description.available)
        self._show_fallback()

    def _show_fallback(self) -> None:
        if self._cpu_only and self._missing:
            reasons = "; ".join(f"{known.id} ({known.name}): {of_engine(known.problem)}" for known in self._missing)
            details = translate("messages", "Not usable: {reasons}").format(reasons=reasons)
            self._banners.show_banner("fallback", Severity.WARNING, translate("messages", "Detection runs on the CPU"), details=details)
        else:
            self._banners.remove("fallback")

    def session_failed(self, problem: Notice) -> None:
        """Show that a session ended with an error."""
        self._banners.show_banner("session", Severity.ERROR, translate("messages", "Detection stopped"), self._settings, details=problem)

    def refused(self, problem: Notice) -> None:
        """Show why a device cannot join or leave."""
        self._banners.show_banner("refused", Severity.WARNING, translate("messages", "That is not possible"), details=problem)

    def preview_crashed(self, reason: Notice, again: bool) -> None:
        """Show that the preview process ended unexpectedly. again: it was restarted."""
        details = translate("messages", "{reason}. It is not started again for this file. Detection continues.")
        if again:
            details = translate("messages", "{reason}. It was started again. Detection continues.")
        details = details.format(reason=of_engine(reason, capital=True))
        self._banners.show_banner("preview", Severity.WARNING, translate("messages", "The preview process ended"), details=details)


def attach(context: Context) -> Feature:
    """Say in banners what happens to devices, sessions and the preview."""
    notices, run = RunMessages(context.banners, context.window), context.run
    notices.settings_requested.connect(context.settings.open_dialog)
    context.settings.devices_found.connect(notices.devices_found)
    context.preview.crashed.connect(notices.preview_crashed)
    run.devices_changed.connect(notices.devices_changed)
    run.device_failed.connect(notices.device_failed)
    run.refused.connect(notices.refused)
    run.failed.connect(notices.session_failed)

    shown: list[str] = []

    def show_notes(notes: Sequence[Notice]) -> None:
        lines = listed([of_engine(note, names=True, capital=True) for note in notes])
        shown[:] = lines if all(note.code == "run.goes_on" for note in notes) else ()
        context.activity.show_done(lines)

    def forget_notes(_: object) -> None:
        if shown and all(item.ended for item in context.queue):
            context.activity.forget(shown)

    run.noted.connect(show_notes)
    run.file_done.connect(forget_notes)
    return Feature()


class QuitQuestion:
    """Asks once. ``ask``: whether to ask at all; the application sets it, a signal that ends the program clears it."""

    def __init__(self, window: QWidget, items: QueueModel, close: Callable[[], object]) -> None:
        self._window, self._items, self._close = window, items, close
        self._box: QMessageBox | None = None
        self.ask = False

    def may_close(self) -> bool:
        """Whether the window may close now. If not, a dialog asks, and closes the window if the user wants."""
        waiting = sum(not item.ended for item in self._items)
        if not self.ask or not waiting:
            return True
        if self._box is None:
            stored = translate("messages", "Finished frames are stored. At the next start you can continue where detection stopped.")
            if any(item.live and not item.ended for item in self._items):
                stored = translate("messages", "What was analysed is stored. Streams have to be opened again at the next start.")
            begun = [item for item in self._items if not item.ended and item.progress.frames]
            names = [item.finished_text for item in begun] + [item.name for item in self._items if not item.ended and item not in begun]
            texts = (
                translate("messages", "Detection has not finished in %Ln files.", None, waiting),
                "\n".join(
                    (
                        *listed(names),
                        "",
                        stored,
                    )
                ),
            )
            answers = translate("messages", "Quit"), translate("messages", "Keep detecting")
            self._box = ask(self._window, translate("messages", "Quit Framefleet"), texts, answers, self._answered)
        return False

    def _answered(self, leave: bool) -> None:
        self._box = None
        if leave:
            self.ask = False
            self._close()
