"""The errors of the client."""

from __future__ import annotations

import re
from typing import Any, Dict, List, Mapping, Optional

from . import _sentences
from .types import Reason

#: Errors of the client itself after which the same call may be sent again.
_RETRYABLE = frozenset({"noDaemon", "connectionClosed", "timeout", "tooManyCalls"})


def sentence(reason: str, language: str = "en") -> str:
    """Returns what to show to the person before the app, such as "Please sign in again."

    `language` is a tag such as `de`, `fr-CA` or `ru_RU.UTF-8`; `LANGUAGES` lists what there is. In other languages the
    sentence is in English. Reasons of later daemons have a general sentence.
    """
    texts = _sentences.TEXTS[_sentences.OF_REASON.get(reason, _sentences.GENERAL)]
    return texts.get(re.split("[-_.@]", language)[0].lower(), texts["en"])


class Error(Exception):
    """The reason why a call gave no result. `str(error)` says what happened and what to do next."""

    #: The stable name to program against: the daemon's own reason, or one of this client.
    reason: Reason
    #: The error's code in JSON-RPC; `None` for errors of this client.
    code: Optional[int]
    #: Whether the same call may succeed later without any change.
    retryable: bool
    #: The seconds to wait before another attempt, if the daemon gives them; at most a day.
    retry_after: Optional[float]
    #: The instance that the error is about.
    instance: Optional[str]
    #: The path of the member that the error is about.
    member: Optional[str]
    #: Whether a failed write may have been run. Only then can sending it again do it twice.
    may_have_run: bool
    #: All that the daemon says about the error: `httpStatus`, `vendorCode`, `reference` and the like.
    data: Mapping[str, Any]

    def __init__(
        self, reason: str, message: str, *, code: Optional[int] = None, data: Optional[Dict[str, Any]] = None,
        may_have_run: bool = False,
    ) -> None:
        super().__init__(message)
        data = data or {}
        known: Any = reason
        self.reason = known
        self.code = code
        self.data = data
        self.retryable = data.get("retryable") is True if code is not None else reason in _RETRYABLE
        after = data.get("retryAfter")
        is_number = isinstance(after, (int, float)) and not isinstance(after, bool) and after >= 0
        self.retry_after = min(float(after), 86_400.0) if is_number and after is not None else None
        self.instance = _text(data.get("instance"))
        self.member = _text(data.get("member"))
        self.may_have_run = may_have_run

    @property
    def hints(self) -> List[str]:
        """Possible causes."""
        hints = self.data.get("hints")
        return [hint for hint in hints if isinstance(hint, str)] if isinstance(hints, list) else []

    def sentence(self, language: str = "en") -> str:
        """Returns what to show to the person before the app; see the function `sentence`."""
        return sentence(self.reason, language)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.reason!r}, {str(self)!r})"

    @property
    def _is_restart(self) -> bool:
        """Whether a restarting daemon can cause this error."""
        own = self.code is None and self.reason in ("connectionClosed", "noDaemon")
        return own or self.reason == "shuttingDown"

    @property
    def _is_passing(self) -> bool:
        """Whether reconnecting can restore a subscription or delegate that was lost with this error."""
        if self.code is None:
            return self._is_restart or self.reason in ("timeout", "systemError")
        # The daemon may notice the new connection before the end of the old one.
        return self.retryable or self.reason == "tooManySubscriptions"


class OutcomeUnknown(Error):
    """A write was sent and got no answer: whether it was run is unknown. Read the state before sending it again."""

    def __init__(self, method: str, cause: str) -> None:
        super().__init__(
            "outcomeUnknown",
            f"{cause}; whether {method} was run is not known. Read the state, then decide.",
            may_have_run=True,
        )


class NotSent(Error):
    """The connection ended before the whole call was sent, so it was not run."""

    def __init__(self) -> None:
        super().__init__("connectionClosed", CLOSED)


class Denied(Exception):
    """Raised by a delegate to refuse for good. The SDK's own consequence follows, such as a logout."""


CLOSED = "The daemon closed the connection and has not come back in time; nothing was changed. Call again."


def closed() -> Error:
    """Returns the error of a connection that ended."""
    return Error("connectionClosed", CLOSED)


def timeout() -> Error:
    """Returns the error of a call whose deadline has passed."""
    return Error("timeout", "The daemon has not answered in time.")


def bad_answer(cause: str) -> Error:
    """Returns the error for a message that can't be read. The outcome of what was sent before is unknown."""
    return Error("badAnswer", f"The daemon's message can't be read: {cause}", may_have_run=True)


def refusal(error: Any) -> Error:
    """Returns the daemon's error object as an exception; an object of another shape as `badAnswer`."""
    if not isinstance(error, dict):
        return bad_answer("an error that is not an object.")
    code, message, data = error.get("code"), error.get("message"), error.get("data")
    if not isinstance(code, int) or isinstance(code, bool) or not isinstance(message, str):
        return bad_answer("an error without code and message.")
    data = data if isinstance(data, dict) else {}
    return Error(_text(data.get("reason")) or "unknown", message, code=code, data=data)


def _text(value: Any) -> Optional[str]:
    return value if isinstance(value, str) else None
