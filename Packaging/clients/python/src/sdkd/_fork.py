"""Clients in a process that has forked."""

from __future__ import annotations

import os

from ._errors import Error


class Origin:
    """The process in which a client was made.

    A forked process has the client, but not its thread, and shares its socket and event loop with the first process. It
    would wait for ever, take the other process's answers, or stop its event loop.
    """

    def __init__(self) -> None:
        self._pid = os.getpid()

    @property
    def is_here(self) -> bool:
        """Whether this is that process."""
        return os.getpid() == self._pid

    def check(self) -> None:
        """Raises `Error` in any other process."""
        if not self.is_here:
            raise Error("clientClosed", "The process has forked since this client was made; connect after the fork.")
