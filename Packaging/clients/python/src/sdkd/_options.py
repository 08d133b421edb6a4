"""The options of a client."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ._socket import Trust, standard_trust


@dataclass(frozen=True)
class Options:
    """Deadlines, retries and limits. Times are in seconds."""

    #: The time limit of a call that sets none, retries included; `math.inf` for no limit.
    deadline: float = 120.0
    #: The time for which calls that were not run, and reads whose answer was lost, are sent again.
    retry: float = 5.0
    #: The longest time that a read over the daemon's rate limit waits in total.
    rate_limit_patience: float = 0.0
    #: The maximum number of calls in progress; one more raises `tooManyCalls`.
    max_calls: int = 1024
    #: The maximum number of bytes that wait for the daemon to read them; a call beyond it raises `tooManyCalls`.
    max_unsent: int = 8 << 20
    #: The maximum number of bytes in a line of the daemon; a longer one ends the connection.
    max_line: int = 64 << 20
    #: The maximum number of events that wait to be taken. While it is reached, the client does not read, and the
    #: daemon keeps the events.
    max_events: int = 256
    #: The maximum number of questions that a delegate answers at a time; others pass it by.
    max_questions: int = 64
    #: The servers to trust.
    trust: Trust = standard_trust

    def __post_init__(self) -> None:
        for name in ("deadline", "retry", "rate_limit_patience"):
            value = getattr(self, name)
            if math.isnan(value) or value < 0:
                raise ValueError(f"{name} must be at least 0, not {value}")
        for name in ("max_calls", "max_unsent", "max_line", "max_events", "max_questions"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
