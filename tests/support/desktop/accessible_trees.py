"""Starts the real window, operates it through Qt's accessibility interface, and prints accessible trees.

Run it as a program: ``accessible_trees.py STEPS [ARGUMENT…]``. STEPS is a JSON list of [verb, text]. The verbs are "await" (wait until
this text is shown), "press" (press the button with this name) and "show" (print the tree of the active window under this title).
The arguments are those of ``framefleet`` for the window. The program uses Qt and ``framefleet``'s entry point only.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Iterator

from PySide6.QtCore import QTimer
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QAbstractButton, QApplication, QMainWindow, QMenu, QWidget

from framefleet.app.main import main

Node = QAccessibleInterface
Role, Text = QAccessible.Role, QAccessible.Text
LEFT_OUT = (Role.Graphic, Role.Grip, Role.ScrollBar)
"""Roles that are left out: decoration, and elements that depend on the size of the screen."""
CONTAINERS = (Role.Client, Role.LayeredPane, Role.Splitter, Role.Border, Role.StaticText)
"""Roles of which only the children are shown if there is no name."""
FLAGS = ("disabled", "checked", "selected", "expanded")
INTERVAL_MS = 20


def children(node: Node) -> Iterator[Node]:
    """The visible children. The entries of combo boxes and lists are included even if they are hidden."""
    for index in range(node.childCount()):
        child = node.child(index)
        if child is None or not child.isValid():
            continue
        if node.role() == Role.ComboBox or child.role() == Role.ListItem or not child.state().invisible:
            yield child


def named(node: Node) -> str:
    """The accessible name. For a combo box, Qt on Linux reports the value as the name, so the widget's own name comes first."""
    widget = node.object()
    return (widget.accessibleName() if isinstance(widget, QWidget) else "") or node.text(Text.Name)


def texts_of(node: Node) -> list[str]:
    """The name, value and description, without empty and repeated texts."""
    return [text for text in dict.fromkeys((named(node), node.text(Text.Value), node.text(Text.Description))) if text]


def describe(node: Node, depth: int = 0) -> Iterator[str]:
    """This node and its descendants, one line each: role, name, value, description and state."""
    role, state = node.role(), node.state()
    if role in LEFT_OUT:
        return
    texts = texts_of(node)
    if texts or role not in CONTAINERS:
        yield " ".join(["  " * depth + role.name, *map(repr, texts), *(flag for flag in FLAGS if getattr(state, flag))])
        depth += 1
    for child in children(node):
        yield from describe(child, depth)


def nodes(node: Node) -> Iterator[Node]:
    """This node and all its descendants."""
    yield node
    for child in children(node):
        yield from nodes(child)


def active() -> Node:
    """The node of the active menu, dialog or window."""
    # without a window manager, no window is active; Qt lists them in any order, and the main window is behind a panel's own one
    shown = [widget for widget in QApplication.topLevelWidgets() if widget.isVisible() and not isinstance(widget, QMenu)]
    shown.sort(key=lambda widget: isinstance(widget, QMainWindow))
    widget = QApplication.activePopupWidget() or QApplication.activeModalWidget() or shown[0]
    return QAccessible.queryAccessibleInterface(widget)


def shows(text: str) -> bool:
    """Whether the active window shows this text."""
    return any(text in shown for node in nodes(active()) for shown in texts_of(node))


def button(name: str) -> QAbstractButton | None:
    """The first enabled button of the active window with this name."""
    named_so = (node.object() for node in nodes(active()) if named(node) == name and not node.state().disabled)
    return next((found for found in named_so if isinstance(found, QAbstractButton)), None)


class Operator:
    """Performs one step after the other while Qt's event loop runs, then quits."""

    def __init__(self, steps: list[tuple[str, str]]) -> None:
        self._steps = iter(steps)
        self._awaited: str | None = None
        self.failed = False

    def work(self) -> None:
        try:
            self._work()
        except Exception:
            traceback.print_exc()
            self.failed = True
            QApplication.exit()

    def _work(self) -> None:
        if self._awaited is None or shows(self._awaited):
            self._awaited = None
            verb, text = next(self._steps, ("", ""))
            if verb == "await":
                self._awaited = text
                print(f"waiting for {text}", file=sys.stderr, flush=True)
            elif verb == "press":
                self._press(text)
            elif verb == "show":
                print(f"== {text}", *describe(active()), sep="\n", flush=True)
            else:
                QApplication.exit()
                return
        QTimer.singleShot(INTERVAL_MS, self.work)

    def _press(self, text: str) -> None:
        found = button(text)
        if found is None:
            raise LookupError(f"no button has the name {text}")
        QTimer.singleShot(0, found.animateClick)  # if the button opens a menu, animateClick returns when the menu is closed


def run(steps: list[tuple[str, str]], arguments: list[str]) -> int:
    """Start the window with these arguments and perform the steps. Returns the exit status."""
    operator = Operator(steps)
    execute = QApplication.exec

    def operated(_: QApplication) -> int:
        QAccessible.setActive(True)  # as with a screen reader: otherwise Qt does not keep trees up to date
        QTimer.singleShot(0, operator.work)
        return execute()

    QApplication.exec = operated  # type: ignore[assignment]  # the program calls it once the window is shown
    return main(arguments) or int(operator.failed)


if __name__ == "__main__":
    sys.exit(run(json.loads(sys.argv[1]), sys.argv[2:]))
