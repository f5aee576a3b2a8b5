"""Checks that only the user of this process, and the administrator, can change a folder and the files in it.

On Windows nothing is checked: there, only the user has access to the folders in the user's profile.
"""

import os
import stat
from pathlib import Path

from framefleet.engine.notices import Notice

_FLAGS = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
"""Follow no link, and do not wait for the writer of a named pipe."""


def make_private(folder: Path) -> Notice | None:
    """Create a folder that only the user may enter, unless it exists. Returns why its files cannot be trusted, or None.

    Its files can be trusted if all of these hold: the folder is not a symbolic link; it belongs to the user, and nobody else may write to
    it; the same is true for all folders above it, except that these may belong to the administrator, and may be open to all if only
    owners can remove their files (the sticky bit, as in /tmp). A folder that others may read loses these permissions.

    Raises OSError if the folder cannot be created or examined.
    """
    if not hasattr(os, "geteuid"):
        folder.mkdir(parents=True, exist_ok=True)
        return None
    folder = folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    for parent in dict.fromkeys((*folder.parents, folder.parent.resolve(), *folder.parent.resolve().parents)):
        if reason := _unsafe_parent(parent):
            return reason
    folder.mkdir(mode=0o700, exist_ok=True)
    state = folder.lstat()
    if stat.S_ISLNK(state.st_mode):
        return Notice("plugins.cache_is_link", folder=folder)
    if not stat.S_ISDIR(state.st_mode):
        return Notice("plugins.cache_is_file", folder=folder)
    if state.st_uid != os.geteuid():
        return Notice("plugins.cache_of_other", folder=folder, owner=_name(state.st_uid), user=_name(os.geteuid()))
    if _others_may_write(state):
        return Notice("plugins.cache_writable", folder=folder)
    if stat.S_IMODE(state.st_mode) != 0o700:
        folder.chmod(0o700)
    return None


def read_private(path: Path) -> bytes | None:
    """Read a file of a private folder. Returns None if it is a link or no ordinary file, or if others own it or may change it.

    Raises OSError if the file is missing or unreadable.
    """
    descriptor = os.open(path, os.O_RDONLY | _FLAGS)
    with os.fdopen(descriptor, "rb") as file:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            return None
        if hasattr(os, "geteuid") and (state.st_uid != os.geteuid() or _others_may_write(state)):
            return None
        return file.read()


def _unsafe_parent(folder: Path) -> Notice | None:
    state = folder.lstat()
    if state.st_uid not in (0, os.geteuid()):
        return Notice("plugins.parent_of_other", folder=folder, owner=_name(state.st_uid))
    if stat.S_ISLNK(state.st_mode):  # a link has no permissions; its target is checked, too
        return None
    if _others_may_write(state) and not state.st_mode & stat.S_ISVTX:
        return Notice("plugins.parent_writable", folder=folder)
    return None


def _others_may_write(state: os.stat_result) -> bool:
    return bool(state.st_mode & stat.S_IWOTH) or (bool(state.st_mode & stat.S_IWGRP) and not _is_own_group(state))


def _is_own_group(state: os.stat_result) -> bool:
    """Whether a file's group has only its owner as a member: many systems give each user a group of the same name."""
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(state.st_uid), grp.getgrgid(state.st_gid)
    except KeyError:
        return False
    return group.gr_name == user.pw_name and user.pw_gid == group.gr_gid and set(group.gr_mem) <= {user.pw_name}


def _name(user: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"user {user}"
