"""What the automatic choices of the last run were, and why, in sentences for the settings dialog."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject, QSettings

from framefleet.app.window.devices.status import DeviceStatus
from framefleet.app.window.queue.item import QueueItem
from framefleet.app.window.widgets.engine_text import of_engine, strategy_name
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.pool.events import StrategyChosen
from framefleet.engine.types import AS_ASKED

GROUP = "last_run"
MAX_ENGINES = 3
"""The largest number of devices whose choices are named."""


class LastRun(QObject):
    """Collects the choices from the events of a run, and stores them for the next start."""

    def __init__(self, store: QSettings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._choices: dict[str, str] = {}
        store.beginGroup(GROUP)
        for name in store.childKeys():
            if isinstance(text := store.value(name), str):
                self._choices[name] = text
        store.endGroup()

    @property
    def sentences(self) -> Mapping[str, str]:
        """A sentence for each setting whose automatic choice is known, by the setting's name."""
        said = {name: of_engine(text) for name, text in self._choices.items()}
        if "parallel" in said:
            name, colon, reason = said["parallel"].partition(":")
            said["parallel"] = f"{strategy_name(name)}{colon}{reason}"
        return {name: translate("settings", "Last run: {choice}.").format(choice=text) for name, text in said.items()}

    def show_strategy(self, chosen: StrategyChosen) -> None:
        """Take the strategy and its reason."""
        self._keep("parallel", _because(chosen.strategy, chosen.reason))

    def show_devices(self, statuses: Sequence[DeviceStatus]) -> None:
        """Take the precision, the batch and the decode threads of each device."""
        engines = [status.engine for status in statuses if status.engine is not None]
        if not engines:
            return
        few = len(engines) <= MAX_ENGINES and len({(engine.precision, engine.reason) for engine in engines}) > 1
        named = [(f"{engine.device}: " if few else "") + _because(engine.precision, engine.reason) for engine in engines]
        if all(engine.reason != AS_ASKED for engine in engines):  # the demo asks for one
            self._keep("precision", "; ".join(dict.fromkeys(named)))
        self._keep("batch", ", ".join(dict.fromkeys(str(engine.batch) for engine in engines)))
        self._keep("decode_threads", ", ".join(dict.fromkeys(str(engine.decode_threads) for engine in engines)))
        self._keep("devices", ", ".join(str(engine.device) for engine in engines))

    def show_item(self, item: QueueItem) -> None:
        """Take what decoded a finished video."""
        if words := str(item.progress.decoder):
            self._keep("decode", words)

    def _keep(self, name: str, text: str) -> None:
        if self._choices.get(name) != text:
            self._choices[name] = text
            self._store.setValue(f"{GROUP}/{name}", text)


def _because(choice: str, reason: str) -> str:
    return f"{choice}: {reason}" if reason else choice
