"""Saves the current picture as a file."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QSize, QStandardPaths, Signal
from PySide6.QtGui import QImage

from framefleet.app.window.player import preview_client
from framefleet.app.window.player.player import Player
from framefleet.app.window.run.background import Background
from framefleet.app.window.viewer.canvas import VideoCanvas
from framefleet.app.window.widgets import formats
from framefleet.app.window.widgets.translation import of_engine, translate
from framefleet.engine.notices import ExportError, literal


class PictureSaver(QObject):
    """Saves pictures in the size of the video. possible: the shown frame has its picture.

    saved: the Path of the file. failed: why it could not be written.
    """

    saved = Signal(object)
    failed = Signal(str)

    def __init__(self, player: Player, canvas: VideoCanvas, background: Background, parent: QObject) -> None:
        super().__init__(parent)
        self._player, self._canvas, self._background = player, canvas, background
        self._wanted: tuple[Path, bool, bool] | None = None
        self.possible = True
        player.shown.connect(self._shown)

    def save(self, source: Path, boxes: bool) -> None:
        """Save the current picture of a source, with or without boxes; ``saved`` or ``failed`` follows."""
        info, current = self._player.info, self._player.current
        if info is None or current is None or self._wanted is not None or not self.possible:
            return
        self._wanted = source, boxes, self._player.playing
        self._player.pause()
        size = QSize(info.width, info.height)
        if self._player.live or (current.image.width(), current.image.height()) == size.toTuple():  # live pictures are not kept
            self._shown(current)
        else:
            self._player.set_viewport(size)

    def _shown(self, shown: preview_client.Shown) -> None:
        if self._wanted is None:
            return
        (source, boxes, playing), self._wanted = self._wanted, None
        image = shown.image.copy()
        if boxes:
            self._canvas.draw_boxes(image)
        folder = Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.PicturesLocation))
        name = shown.name or formats.clock(shown.pts - self._player.begin, 3).replace(":", "-")
        target = folder / f"{source.stem} {name}{'' if boxes else ' plain'}.png"
        self._background.start(self, partial(_write, image, target), self.saved.emit, lambda said: self.failed.emit(of_engine(said)))
        self._player.set_viewport(self._canvas.device_size())
        if playing:
            self._player.play()


def _write(image: QImage, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    if not image.save(str(target)):
        raise ExportError(
            literal(
                translate("results", "cannot write {target}: check that the folder may be written and that the disk is not full").format(
                    target=target
                )
            )
        )
    return target
