"""The form for choosing devices: automatically, or from the list of devices found."""

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QWidget

from framefleet.app.window.widgets import formats
from framefleet.app.window.widgets.build import ElidedLabel, column, label, say, wrapped
from framefleet.app.window.widgets.engine_text import of_engine
from framefleet.app.window.widgets.translation import marked, translate
from framefleet.engine.devices.description import DeviceDescription
from framefleet.engine.devices.discovery import default_devices
from framefleet.engine.errors import DeviceError
from framefleet.engine.types import DeviceId

FEW = 3
_AUTOMATIC = marked("settings", "Automatic: the best available")


class DeviceForm(QWidget):
    """A check box for "automatic" and one for each device. changed: a tick has changed, or devices were found."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.automatic = QCheckBox(translate("settings", _AUTOMATIC))
        self.automatic.setChecked(True)
        self.automatic.toggled.connect(self._enable)
        self.hint = label("small", translate("settings", "Looking for devices…"), wrap=True)
        self.problem = wrapped("error")
        self.boxes: dict[DeviceId, QCheckBox] = {}
        self.found: tuple[DeviceDescription, ...] | None = None
        self._wanted: tuple[DeviceId, ...] = ()
        self._grid = QGridLayout()
        self._grid.setContentsMargins(22, 0, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        column(self.automatic, self.hint, self._grid, self.problem, spacing=6, of=self)

    @property
    def devices(self) -> tuple[DeviceId, ...]:
        """The chosen devices; empty = automatic."""
        if self.automatic.isChecked():
            return ()
        return tuple(device for device, box in self.boxes.items() if box.isChecked()) if self.boxes else self._wanted

    @property
    def none_ticked(self) -> bool:
        """Whether the choice is not automatic although no device is ticked."""
        return not self.automatic.isChecked() and not self.devices

    @property
    def default(self) -> tuple[DeviceId, ...]:
        """The devices that the automatic choice uses; empty while unknown."""
        try:
            return default_devices(self.found) if self.found else ()
        except DeviceError:
            return ()

    @property
    def offered(self) -> dict[DeviceId, tuple[str, ...]]:
        """The precisions of the available devices."""
        return {known.id: known.precisions for known in self.found or () if known.available}

    def set_devices(self, devices: Sequence[DeviceId]) -> None:
        """Tick these devices; none = automatic."""
        self._wanted = tuple(devices)
        self.automatic.setChecked(not devices)
        for device, box in self.boxes.items():
            box.setChecked(device in devices)
        self._enable()

    def offer(self, found: Sequence[DeviceDescription]) -> None:
        """List the devices that were found. A chosen device that was not found stays listed, with a note."""
        self.found = tuple(found)
        for description in found:
            self._add(description.id, _described(description), description.problem)
        for device in self._wanted:
            if device not in self.boxes and device.kind == "cpu":
                self._add(device, translate("settings", "Shares the processor with the other CPU devices"), None)
            elif device not in self.boxes:
                self._add(device, "", translate("settings", "It was not found on this machine."), usable=True)
        used = self.default
        names = ", ".join(map(str, used)) if len(used) <= FEW else formats.plural(len(used), "device")
        automatic = translate("settings", _AUTOMATIC)
        self.automatic.setText(f"{automatic} ({names})" if used else automatic)
        self.hint.hide()
        self._enable()

    def _add(self, device: DeviceId, detail: str, problem: str | None, usable: bool = False) -> None:
        box = QCheckBox(str(device))
        box.setAccessibleName(", ".join(filter(None, (str(device), detail, of_engine(problem or "")))))
        box.setChecked(device in self._wanted)
        box.setProperty("usable", usable or problem is None)
        box.toggled.connect(self.changed)
        row = self._grid.rowCount()
        self._grid.addWidget(box, row, 0)
        line = ElidedLabel("small")
        line.setToolTip(detail)
        self._grid.addWidget(line, row, 1)
        say(line, detail)
        if problem is not None:
            why = wrapped("notice")
            self._grid.addWidget(why, row + 1 if detail else row, 1)
            say(why, formats.capitalised(problem))
        self.boxes[device] = box

    def fail(self, message: str) -> None:
        """Show why the search for devices failed."""
        self.hint.setText(message)

    def _enable(self) -> None:
        automatic, used = self.automatic.isChecked(), self.default
        for device, box in self.boxes.items():
            if automatic:
                with QSignalBlocker(box):
                    box.setChecked(device in used)  # so that the user sees what is used
            box.setEnabled(not automatic and (box.property("usable") or box.isChecked()))
        self.changed.emit()


def _described(known: DeviceDescription) -> str:
    """``NVIDIA H200 · 140.4 GiB · fp32, fp16 · TensorRT``."""
    memory = formats.gib(known.memory) if known.memory else ""
    return " · ".join(filter(None, (known.name, memory, ", ".join(known.precisions), known.backend)))
