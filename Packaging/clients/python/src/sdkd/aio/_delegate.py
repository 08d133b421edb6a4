"""Delegates: a connection that answers the daemon's questions for instances."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import deque
from types import TracebackType
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Deque, Dict, Mapping, NamedTuple, Optional, Type, cast

from .. import _wire
from .._errors import Denied, Error, closed
from .._retry import Schedule, reconnect
from ..types import Answer, AttachmentState, DelegateQuestion, QUESTIONS
from ._connection import Connection

if TYPE_CHECKING:
    from ._client import Client

_log = logging.getLogger("sdkd")

#: Answers a question, or returns `None` to pass it on. Its task is cancelled when the answer is no longer needed.
Answering = Callable[[DelegateQuestion], Awaitable[Optional[Answer]]]


class Status(NamedTuple):
    """The status of a delegate's attachment."""

    #: `attached`; `detached` while a lost connection is reopened; `ended` when no more questions come.
    state: AttachmentState
    #: The reason of the loss, or of the end; `None` for a delegate that was detached on purpose.
    error: Optional[Error]


class Attachment:
    """The attachment of a delegate. A lost connection is reopened until the delegate is detached.

    Iterate over it to follow its statuses: the current one first, then each change. Of the unread ones the latest 16 are
    kept. The iteration ends after `ended`.
    """

    def __init__(self, client: Client, params: Dict[str, Any], answer: Answering) -> None:
        self._client = client
        self._params = params
        self._answering = answer
        self._connection: Optional[Connection] = None
        self._status = Status("detached", None)
        self._unread: Deque[Status] = deque(maxlen=16)
        self._changed = asyncio.Event()
        self._is_detaching = False
        self._keeper: Optional[asyncio.Task[None]] = None

    @property
    def status(self) -> Status:
        """The current status."""
        return self._status

    async def detach(self) -> None:
        """Detaches the delegate: the daemon asks it no more and does not wait for its return.

        While the connection is lost, the daemon can't be told, and waits for the delegate up to `delegate.grace`.
        Raises `Error` when the call to the daemon failed. The connection is closed all the same.
        """
        self._is_detaching = True
        try:
            if self._connection is not None and not self._connection.is_closed:
                await self._connection.call("delegate.detach", {}, self._client._until(None))
        finally:
            self._end()

    def _end(self) -> None:
        self._is_detaching = True
        if self._connection is not None:
            self._connection.close()
        if self._keeper is not None:
            self._keeper.cancel()
        self._tell(Status("ended", None))

    async def __aenter__(self) -> Attachment:
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.detach()

    def __aiter__(self) -> Attachment:
        return self

    async def next(self) -> Optional[Status]:
        """Returns the next status, or `None` after `ended`."""
        while not self._unread:
            if self._status.state == "ended":
                return None
            self._changed.clear()
            await self._changed.wait()
        return self._unread.popleft()

    async def __anext__(self) -> Status:
        status = await self.next()
        if status is None:
            raise StopAsyncIteration
        return status

    # Keeping it attached

    async def _begin(self) -> None:
        await self._attach()
        self._keeper = asyncio.get_running_loop().create_task(self._keep())

    async def _attach(self) -> None:
        # Set before the call: `detach` and `_end` must reach a connection that is being attached.
        connection = self._connection = await self._client._open(self._answer)
        try:
            if self._is_detaching:
                connection.close()
            await connection.call("delegate.attach", self._params, self._client._until(None))
        except BaseException as error:
            # `detach` may wait for its own call on this connection, and closes it then.
            if not self._is_detaching or not isinstance(error, Error):
                connection.close()
                raise
        if self._is_detaching:
            raise self._client._closed_error()
        self._tell(Status("attached", None))

    async def _keep(self) -> None:
        schedule = reconnect()
        clock = asyncio.get_running_loop().time
        while self._connection is not None:
            begin = clock()
            loss = await self._connection.ended()
            # A connection that lasts longer than the longest pause shows a healthy daemon.
            if clock() - begin > schedule.longest:
                schedule = reconnect()
            if self._is_detaching:
                return
            self._tell(Status("detached", loss))
            refusal = await self._attach_again(schedule)
            if self._is_detaching:
                return
            if refusal is not None:
                return self._tell(Status("ended", refusal))

    async def _attach_again(self, schedule: Schedule) -> Optional[Error]:
        """Attaches again, with pauses. Returns the final refusal, if any."""
        last = closed()
        while True:
            pause = schedule.next(random.random())
            if pause is None:
                return last
            await asyncio.sleep(max(pause, last.retry_after or 0))
            try:
                await self._attach()
                return None
            except Error as error:
                if not error._is_passing:
                    return error
                last = error
            except Exception as error:
                failure = Error("systemError", f"The delegate can't be attached again: {error!r}.")
                failure.__cause__ = error
                return failure

    def _tell(self, status: Status) -> None:
        if self._status.state == "ended":
            return
        self._status = status
        self._unread.append(status)
        self._changed.set()

    # Questions

    async def _answer(self, method: str, params: Any) -> Dict[str, Any]:
        if method not in QUESTIONS or not isinstance(params, dict):
            return _error(-32601, "methodNotFound", f"This client answers no {method}.")
        if self._is_detaching and self._status.state != "attached":
            # The app has detached it while it was being attached.
            return {"result": {"defer": True}}
        try:
            answer = await self._answering(cast(DelegateQuestion, params))
            result: Mapping[str, Any] = {"defer": True} if answer is None else answer
            _wire.text(result=result)
            return {"result": result}
        except Denied:
            return _error(-32040, "providerDenied", "The delegate says no.")
        except asyncio.CancelledError:
            return _error(-32040, "providerFailed", "The delegate was interrupted.")
        except Exception:
            # The error's text belongs to the app and is not sent.
            _log.exception("The delegate failed at a question of the daemon.")
            return _error(-32040, "providerFailed", "The delegate has no answer.")


def _error(code: int, reason: str, message: str) -> Dict[str, Any]:
    return {"error": {"code": code, "message": message, "data": {"reason": reason}}}
