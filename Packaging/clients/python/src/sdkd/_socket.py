"""The socket of a daemon: its path, and whether the process at its other end is trusted."""

from __future__ import annotations

import errno
import os
import pwd
import re
import socket
import stat
import struct
from typing import Callable, Optional

from ._errors import Error

#: A rule for the servers to trust: gets the uid and pid that began to listen, and the path of the socket.
Trust = Callable[[int, int, str], bool]

_SYSTEM = "/run/sdkd/sdkd.sock"
_TENANTS = "/run/sdkd-tenants"
_LONGEST_PATH = 107


def automatic_socket() -> str:
    """Returns the path in `SDKD_SOCKET`, else the user's socket if it exists, else the system's."""
    path = os.environ.get("SDKD_SOCKET")
    if path:
        return path
    if os.environ.get("XDG_RUNTIME_DIR") and os.path.exists(user_socket()):
        return user_socket()
    return _SYSTEM


def system_socket() -> str:
    """Returns the path of the machine's daemon."""
    return _SYSTEM


def user_socket() -> str:
    """Returns the path of the current user's daemon."""
    # systemd always creates this directory; su and cron leave the variable unset.
    return f"{os.environ.get('XDG_RUNTIME_DIR') or f'/run/user/{os.getuid()}'}/sdkd/sdkd.sock"


def tenant_socket(name: str) -> str:
    """Returns the path of a tenant's daemon."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,26}", name):
        raise Error("badLocation", f"{name!r} can't be a tenant: that is 1 to 26 letters, digits, - and _.")
    return f"{_TENANTS}/{name}.sock"


def standard_trust(uid: int, pid: int, path: str) -> bool:
    """Trusts root, the caller's own user, the user `sdkd`, and every server on a tenant's socket.

    A tenant's daemon has a dynamic user, but only root can have created its socket. A listener of uid 0 can be the
    system's service manager or belong to another pid namespace: it is trusted only where root alone can create sockets.
    """
    if _is_roots(path, _TENANTS):
        return True
    if uid == 0:
        return pid > 1 or _is_roots(path, "/run/sdkd")
    if uid == os.geteuid():
        return True
    try:
        return uid == pwd.getpwnam("sdkd").pw_uid
    except KeyError:
        return False


def _is_roots(path: str, folder: str) -> bool:
    if os.path.dirname(path) != folder or not path.endswith(".sock"):
        return False
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == 0 and not status.st_mode & 0o022


def attempt(path: str, trust: Trust) -> Optional[socket.socket]:
    """Connects once. Returns a non-blocking socket whose server is trusted, or `None` while the backlog is full.

    Raises `Error`.
    """
    if not path:
        raise Error("badLocation", "The path of the socket is empty.")
    if "\0" in path or len(os.fsencode(path)) > _LONGEST_PATH:
        raise _no_daemon(path)
    try:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK)
    except OSError as error:
        raise Error("systemError", f"socket failed: {error.strerror}.") from error
    try:
        connection.connect(path)
        # The kernel recorded these credentials when the daemon began to listen.
        pid, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if trust(uid, pid, path):
            return connection
    except OSError as error:
        connection.close()
        if error.errno in (errno.EAGAIN, errno.EINTR):
            return None
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ECONNREFUSED):
            raise _no_daemon(path) from error
        if error.errno in (errno.EACCES, errno.EPERM):
            raise Error("notPermitted", f"You may not connect to {path}.") from error
        raise Error("systemError", f"connect failed: {error.strerror}.") from error
    except BaseException:
        connection.close()
        raise
    connection.close()
    message = (
        "The system's service manager listens on this socket, which is not in sdkd's directories below /run; who "
        "answers is not known, so nothing was sent."
        if uid == 0
        else f"The socket belongs to uid {uid}, which is neither root nor sdkd nor you; nothing was sent."
    )
    raise Error("untrustedServer", message)


def _no_daemon(path: str) -> Error:
    return Error("noDaemon", f"No daemon answers on {path}. Start it, or say where its socket is.")
