"""The desktop window: the queue of files, the video with its boxes, and the devices."""

import builtins

import PySide6.QtCore  # noqa: F401

# PySide6 makes each import read the source of the module, because ``from __feature__ import …`` might be there. Nothing here uses that,
# and without it the window's modules are imported in five sixths of the time.
builtins.__import__ = getattr(builtins, "__orig_import__", builtins.__import__)
