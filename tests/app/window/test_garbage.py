import gc
import threading
import weakref

from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from framefleet.app.window.garbage import GarbageCollector


class Knot(QObject):
    """A Qt object that only the cyclic collector can free; it notes in which thread that happens."""

    freed_in: list[str] = []  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self.itself = self
        weakref.finalize(self, lambda: Knot.freed_in.append(threading.current_thread().name))


def test_qt_objects_are_freed_in_the_window_s_thread_whoever_allocates(qtbot: QtBot) -> None:
    collector = GarbageCollector()
    collector.start()
    try:
        Knot.freed_in.clear()
        for _ in range(20):
            Knot()
        worker = threading.Thread(target=lambda: [[{}] for _ in range(200_000)], name="worker")
        worker.start()
        worker.join()
        assert Knot.freed_in == []
        qtbot.waitUntil(lambda: len(Knot.freed_in) == 20)
        assert set(Knot.freed_in) == {"MainThread"}
    finally:
        collector.stop()
    assert gc.isenabled()
