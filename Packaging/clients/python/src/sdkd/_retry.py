"""The policy of retries. Nothing here waits or reads a clock."""

from __future__ import annotations

from typing import Optional

from ._errors import Error, OutcomeUnknown


class Schedule:
    """A schedule of pauses between attempts: each is twice the one before, up to `longest` seconds."""

    def __init__(self, limit: Optional[float], longest: float = 0.5, first: float = 0.01) -> None:
        self.longest = longest
        self._pause = first
        self._left = limit

    def next(self, random: float) -> Optional[float]:
        """Returns the next pause, or `None` when the pauses would exceed the limit.

        `random` is from 0 to 1, so that clients that lost the same daemon don't reconnect at the same moment.
        """
        pause = min(self._pause, self.longest) * (0.5 + 0.5 * random)
        if self._left is not None:
            if self._left <= 0:
                return None
            pause = min(pause, self._left)
            self._left -= pause
        self._pause = min(self._pause * 2, self.longest)
        return pause


def reconnect() -> Schedule:
    """Returns the schedule for the lost connection of a subscription or a delegate, which never ends."""
    return Schedule(None, longest=2)


class Attempts:
    """The decisions about one call: whether a failed attempt is repeated, and after which pause."""

    def __init__(self, method: str, is_read: bool, retry: float, rate_limit_patience: float) -> None:
        self._method = method
        self._is_read = is_read
        self._schedule = Schedule(retry)
        self._patience = rate_limit_patience

    def pause(self, failure: Error, was_sent: bool, was_connected: bool, random: float) -> float:
        """Returns the pause before the next attempt, or raises the error with which the call ends.

        `was_sent` is whether the daemon may have received the call. `was_connected` is whether a connection existed
        before: only then can a missing daemon be one that restarts.
        """
        may_have_run = was_sent and not self._is_read
        if failure.code is None:
            if may_have_run and failure.reason != "noDaemon":
                late = failure.reason == "timeout"
                cause = "has not answered in time" if late else "closed the connection without an answer"
                raise OutcomeUnknown(self._method, f"The daemon {cause}") from failure
            failure.may_have_run = False
            again = failure.reason == "connectionClosed" or (failure.reason == "noDaemon" and was_connected)
        else:
            # The daemon has not run the call to its end, and it is safe to send it again.
            again = failure.reason in ("shuttingDown", "tooManyInFlight")
            if failure.reason == "rateLimit" and self._is_read:
                wait = 1.0 if failure.retry_after is None else failure.retry_after
                if wait > self._patience:
                    raise failure
                self._patience -= wait
                return wait
        pause = self._schedule.next(random) if again else None
        if pause is None:
            raise failure
        return pause
