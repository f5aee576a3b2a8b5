"""Tunes the engines of devices when the user asks for it and no file is being detected.

A run takes the engine that is ready soonest. When its files are done, a message offers to look for a faster one, once for each model and
kind of device.
"""

from functools import partial

from PySide6.QtCore import QObject, Signal, Slot

from framefleet.app.window.context import Context, Feature
from framefleet.app.window.devices.status import DeviceStatus
from framefleet.app.window.queue.item import QueueItem
from framefleet.app.window.widgets.banner import Severity
from framefleet.app.window.widgets.translation import of_engine, translate
from framefleet.engine.bench.tune import Tuned, TuningProcess
from framefleet.engine.notices import Notice
from framefleet.engine.settings import RunSettings
from framefleet.engine.types import DeviceId
from framefleet.resources import DEMO

_SUBJECT = "tuning"
_OFFERED = "tuning/offered"
"""The key of the stored offers: the model and the kind of device of each."""


class Tuning(QObject):
    """Offers to tune, and does it in a process of its own."""

    _told = Signal(object, object, float)

    def __init__(self, context: Context) -> None:
        super().__init__(context.window)
        self._context = context
        self._statuses: tuple[DeviceStatus, ...] = ()
        self._process: TuningProcess | None = None
        self._told.connect(self._show_step)
        context.run.devices_changed.connect(self._see)
        context.run.file_done.connect(self._offer)
        context.actions.tune.triggered.connect(self.start)

    @property
    def _settings(self) -> RunSettings | None:
        preferences = self._context.settings.preferences
        return None if preferences.model is None else preferences.run_settings()

    @property
    def _busy(self) -> bool:
        return any(item.active for item in self._context.queue)

    def _see(self, statuses: tuple[DeviceStatus, ...]) -> None:
        self._statuses = statuses

    def _offer(self, _item: QueueItem) -> None:
        """Offer to tune the devices whose engines are the first ones, unless that was offered before."""
        settings, context = self._settings, self._context
        if settings is None or self._process is not None or self._busy:
            return
        engines = [status.engine for status in self._statuses if status.engine is not None and status.engine.is_first]
        offers = {f"{settings.model.cfg}\t{engine.device_name}" for engine in engines}
        stored = set(filter(None, str(context.store.value(_OFFERED) or "").split("\n")))
        if offers <= stored:
            return
        context.store.setValue(_OFFERED, "\n".join(sorted(offers | stored)))
        context.banners.show_banner(
            _SUBJECT,
            Severity.INFO,
            translate("tuning", "The engines in use are those that were ready soonest"),
            (translate("tuning", "Look for faster ones"), self.start),
            details=translate("tuning", "Looking for faster ones takes one to two minutes for each device. Later files then use them."),
        )

    def start(self) -> None:
        """Tune the devices of the next run, if no file is being detected."""
        settings, context = self._settings, self._context
        if self._process is not None:
            return
        if settings is None:
            context.settings.ask_for_model()
            return
        if self._busy:
            context.banners.show_banner(_SUBJECT, Severity.INFO, translate("tuning", "Engines can be tuned when all files are done."))
            return
        context.run.renew()  # its engines would share the devices with those that are tried
        context.banners.remove(_SUBJECT)
        item = context.selection.item
        videos = [DEMO.clip if item is None else item.path]
        devices = [status.device for status in self._statuses if status.engine is not None] or [*settings.devices]
        self._process = process = TuningProcess(settings.model, devices, settings.engine, videos)
        context.activity.show_progress(translate("tuning", "Looking for faster engines…"), 0.0, self.stop)
        context.background.start(self, partial(process.results, self._told.emit), self._done, self._failed)

    def stop(self) -> None:
        """End the process that tunes."""
        if self._process is not None:
            self._process.kill()
            self._process = None
            self._context.activity.hide()

    @Slot(object, object, float)
    def _show_step(self, device: DeviceId, doing: Notice, fraction: float) -> None:
        if self._process is not None:
            self._context.activity.show_progress(f"{device}: {of_engine(doing, capital=True)}", fraction, self.stop)

    def _done(self, tuned: list[Tuned]) -> None:
        self._process = None
        lines = []
        for found in tuned:
            text = translate("tuning", "{device}: {before} → {after} images/s")
            before, after = round(found.images_before), round(found.images_after)
            if found.before.choice == found.after.choice:
                text = translate("tuning", "{device} has the fastest engine already: {after} images/s")
            lines.append(text.format(device=found.after.device, before=before, after=after))
        self._context.activity.show_done(lines)

    def _failed(self, problem: Notice) -> None:
        if self._process is not None:  # not cancelled
            self._process = None
            self._context.activity.hide()
            title = translate("tuning", "The engines were not tuned")
            self._context.banners.show_banner(_SUBJECT, Severity.ERROR, title, details=problem)


def attach(context: Context) -> Feature:
    """Let the user tune engines."""
    return Feature(stop=Tuning(context).stop)
