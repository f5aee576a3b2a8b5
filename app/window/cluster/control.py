"""Connects the window with a cluster: the dialog, panels and messages."""

from collections.abc import Sequence

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QDialog, QProgressBar, QWidget

from framefleet.app.window.cluster.link import ClusterLink, Machine
from framefleet.app.window.context import Context, Feature
from framefleet.app.window.widgets import fields
from framefleet.app.window.widgets.banner import Severity
from framefleet.app.window.widgets.build import column, label, push_button, row, say, wrapped
from framefleet.app.window.widgets.translation import of_engine, translate
from framefleet.engine.notices import Notice

WIDTH = 520


class ClusterDialog(QDialog):
    """Asks for the address of a cluster. While the window is connected, lists the machines and offers to disconnect."""

    def __init__(self, link: ClusterLink, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("cluster", "Connect to a cluster"))
        self._link = link
        self.intro = label(
            "muted",
            translate(
                "cluster",
                "Files are detected on the machines of a Ray cluster. Results stay on this machine, which has to be part of the cluster.",
            ),
            wrap=True,
        )
        title = label("", translate("cluster", "Address of the cluster"))
        self.address = fields.text_field(title.text(), link.address, "HOST:6379")
        self.address.returnPressed.connect(self._connect)
        self.address.textChanged.connect(self._changed)
        self.hint = label(
            "small",
            translate("cluster", "As “ray start --head” prints it. “auto” means the cluster that runs on this machine."),
            wrap=True,
        )
        self.progress = QProgressBar(minimum=0, maximum=0, textVisible=False)
        self.progress.setFixedHeight(6)
        self.problem, self.machines = wrapped("error"), wrapped("")
        self.connect_ = push_button(translate("cluster", "Connect"), self._connect, role="primary")
        self.disconnect_ = push_button(translate("cluster", "Disconnect"), link.disconnect_)
        self.shut = push_button(translate("cluster", "Close"), self.reject)
        self.address.setMaximumWidth(WIDTH)
        buttons = row(None, self.disconnect_, self.connect_, self.shut, spacing=8)
        field = column(title, self.address, self.hint, spacing=4)
        parts = (self.intro, field, self.progress, self.problem, self.machines)
        column(*parts, None, buttons, spacing=12, margins=(20, 18, 20, 16), of=self)
        self.setMinimumWidth(WIDTH)
        for signal in (link.connecting, link.connected, link.disconnected):
            signal.connect(self._show_state)
        for failed in (link.refused, link.lost):
            failed.connect(self._show_problem)
        link.machines_changed.connect(self._show_machines)
        self._show_state()

    def _connect(self) -> None:
        if address := self.address.text().strip():
            self._link.connect_to(address)

    def _changed(self) -> None:
        self.connect_.setEnabled(bool(self.address.text().strip()) and not self._link.busy)

    def _show_state(self) -> None:
        connected, busy = self._link.cluster is not None, self._link.busy
        say(self.problem, "")
        self.progress.setVisible(busy)
        self.address.setEnabled(not connected and not busy)
        self.hint.setVisible(not connected)
        self.connect_.setVisible(not connected)
        self.disconnect_.setVisible(connected)
        self._changed()
        self._show_machines(self._link.machines)

    def _show_problem(self, why: Notice) -> None:
        self._show_state()
        say(self.problem, of_engine(why, capital=True))

    def _show_machines(self, machines: Sequence[Machine]) -> None:
        cluster = self._link.cluster
        if cluster is None:
            say(self.machines, "")
            return
        states = [machine.state for machine in machines]
        title = translate("cluster", "Connected to {address}. These machines take part:").format(address=cluster.address)
        say(self.machines, "\n".join([title, *(_line(state.name, state.address, state.lost) for state in states)]))


def _line(name: str, address: str, lost: bool) -> str:
    text = translate("cluster", "{name} ({address}) cannot be reached") if lost else "{name} ({address})"
    return text.format(name=name, address=address)


class ClusterControl(QObject):
    """Owns the dialog, and says in banners what happens to the connection."""

    def __init__(self, context: Context) -> None:
        super().__init__(context.window)
        self._window, self.link, self._banners = context.window, context.cluster, context.banners
        self.dialog: ClusterDialog | None = None
        self.link.said.connect(self._say)
        self.link.lost.connect(self._lost)
        self.link.connecting.connect(lambda: self._banners.remove("cluster"))

    def open_dialog(self) -> None:
        """Ask for an address, or show the machines."""
        if self.dialog is None:
            self.dialog = ClusterDialog(self.link, self._window)
        self.dialog.open()
        self.dialog.raise_()

    def _say(self, said: Notice) -> None:
        self._banners.show_banner("cluster", Severity.INFO, translate("cluster", "The cluster has changed"), details=said)

    def _lost(self, why: Notice) -> None:
        details = translate("cluster", "Detection continues with the devices of this machine.")
        action = translate("cluster", "Connect…"), self.open_dialog
        title = translate("cluster", "The cluster is disconnected")
        self._banners.show_banner("cluster", Severity.ERROR, title, action, details=f"{of_engine(why, capital=True)}\n{details}")


def attach(context: Context) -> Feature:
    """Let the user connect to a cluster."""
    control = ClusterControl(context)
    context.actions.cluster.triggered.connect(control.open_dialog)
    return Feature()
