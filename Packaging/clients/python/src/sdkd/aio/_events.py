"""The events of a daemon as they happen."""

from __future__ import annotations

import asyncio
import logging
import random
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Dict, NamedTuple, Optional, Type, cast

from .._errors import Error, bad_answer, timeout
from .._retry import reconnect
from ..types import Event, Gap, Item
from ._connection import Connection, wait_for

if TYPE_CHECKING:
    from ._client import Client

_log = logging.getLogger("sdkd")


class ConnectionStatus(NamedTuple):
    """The status of the connection over which events arrive."""

    #: Whether the events are subscribed. Otherwise the client connects, for the first time or again.
    is_connected: bool
    #: The reason why the connection was lost or could not be opened; `None` while it is open, and before the first attempt.
    error: Optional[Error]


#: Called with each change of a status. An exception is logged (`logging`, `sdkd`).
OnStatus = Callable[[ConnectionStatus], object]


class Events:
    """An asynchronous iterator over events, with a connection of its own and one reader.

    A lost connection is reopened, and the events continue after the last one taken, without repetition. Where the
    daemon no longer keeps an event, an item of type `gap` comes: read the state again before you take the next item.
    Each item has a `cursor`: give it as `since` to continue there later.
    """

    def __init__(
        self, client: Client, filters: Dict[str, Any], since: Optional[str], on_status: Optional[OnStatus] = None
    ) -> None:
        self._client = client
        self._filters = filters
        self._on_status = on_status
        self._status = ConnectionStatus(False, None)
        self._cursor = since
        self._connection: Optional[Connection] = None
        #: The subscription in progress. It outlives a take that ends earlier; the next take waits for it.
        self._beginning: Optional[asyncio.Task[Connection]] = None
        self._name: Any = None
        self._is_paused = False
        self._has_begun = False
        self._is_closed = False
        self._schedule = reconnect()

    @property
    def cursor(self) -> Optional[str]:
        """The cursor of the last item taken. Before the first item: where the subscription began."""
        return self._cursor

    @property
    def status(self) -> ConnectionStatus:
        """The status of the connection. A loss is noticed while an item is awaited."""
        return self._status

    async def start(self) -> None:
        """Subscribes now instead of with the first item. If you call it before you read the state, you miss nothing after that."""
        await self._next(self._client._until(None), True)

    async def take(self, deadline: Optional[float] = None) -> Optional[Item]:
        """Returns the next item, or `None` when `deadline` seconds have passed or the iterator was closed.

        Raises `Error` when the daemon refuses the subscription or was never reached.
        """
        return await self._next(self._client._until(float("inf") if deadline is None else deadline), False)

    async def _next(self, until: float, only_begins: bool) -> Optional[Item]:
        while not self._is_closed:
            try:
                connection = await self._begun(until)
                if connection is None and only_begins:
                    raise timeout()
                if connection is None or only_begins:
                    return None
                message = await connection.notification(until)
                if message is None:
                    return None
                item = self._take(*message)
                if item is not None:
                    self._schedule = reconnect()
                    return item
            except Error as error:
                if self._is_closed:
                    return None
                pause = self._pause(error)
                left = until - asyncio.get_running_loop().time()
                await asyncio.sleep(min(pause, max(left, 0)))
                if left <= pause:
                    if only_begins:
                        raise
                    return None
        return None

    def __aiter__(self) -> Events:
        return self

    async def __anext__(self) -> Item:
        item = await self.take()
        if item is None:
            raise StopAsyncIteration
        return item

    async def close(self) -> None:
        """Ends the iteration, also one that waits in another task."""
        self._end()

    def _end(self) -> None:
        self._is_closed = True
        self._drop()

    async def __aenter__(self) -> Events:
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.close()

    def __del__(self) -> None:
        connection = self._connection
        if connection is not None and not connection.is_closed and not connection._loop.is_closed():
            connection._loop.call_soon_threadsafe(connection.close)

    # The subscription

    async def _begun(self, until: float) -> Optional[Connection]:
        """Subscribes or resumes if necessary. Returns `None` when the time is over."""
        if self._beginning is None:
            if self._connection is not None and not self._is_paused:
                return self._connection
            self._beginning = asyncio.get_running_loop().create_task(self._begin())
            self._beginning.add_done_callback(lambda task: task.cancelled() or task.exception())
        if not await wait_for(self._beginning, until):
            return None
        task, self._beginning = self._beginning, None
        return task.result()

    async def _begin(self) -> Connection:
        """Subscribes if there is no subscription, and resumes after a gap."""
        within = self._client._until(None)
        try:
            if self._connection is None:
                connection = self._connection = await self._client._open(follows=True)
                if self._is_closed:
                    connection.close()
                since = {} if self._cursor is None else {"since": self._cursor}
                result = await connection.call("events.subscribe", {**self._filters, **since}, within)
                if not isinstance(result, dict) or not isinstance(result.get("cursor"), str):
                    raise bad_answer("events.subscribe without a cursor.")
                self._name = result.get("subscription")
                # Without this cursor, a connection lost before the first event would miss events.
                self._cursor = self._cursor or result["cursor"]
                self._has_begun = True
            else:
                connection = self._connection
                params = {"subscription": self._name, "since": self._cursor}
                await connection.call("events.resume", params, within)
            self._is_paused = False
            self._tell(ConnectionStatus(True, None))
            return connection
        except BaseException:
            self._drop()
            raise

    def _take(self, method: str, params: Dict[str, Any]) -> Optional[Item]:
        if params.get("subscription") != self._name:
            return None
        if method == "events.event" and isinstance(params.get("event"), dict):
            event = params["event"]
            if isinstance(event.get("cursor"), str) and isinstance(event.get("type"), str):
                self._cursor = event["cursor"]
                return cast(Event, event)
        if method == "events.gap" and isinstance(params.get("resume"), str):
            self._cursor = params["resume"]
            self._is_paused = True
            gap = {"type": "gap", "cursor": params["resume"]}
            if isinstance(params.get("from"), str):
                gap["from"] = params["from"]
            return cast(Gap, gap)
        return None

    def _pause(self, failure: Error) -> float:
        """Returns the time to wait before the next connection, or raises the failure when it is final."""
        self._drop()
        self._tell(ConnectionStatus(False, failure))
        was_there = self._has_begun or (failure._is_restart and self._client._path is not None)
        pause = self._schedule.next(random.random()) if was_there and failure._is_passing else None
        if pause is None:
            raise failure
        return max(pause, failure.retry_after or 0)

    def _tell(self, status: ConnectionStatus) -> None:
        """Tells a change. Further failures of a connection that is reopened are none."""
        was_told = self._status.is_connected if status.is_connected else self._status.error is not None
        if was_told or self._is_closed:
            return
        self._status = status
        if self._on_status is None:
            return
        try:
            self._on_status(status)
        except Exception:
            _log.exception("The function that gets the statuses of a connection has failed.")

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None
