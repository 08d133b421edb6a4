"""The client for asyncio."""

from __future__ import annotations

import asyncio
import math
import random
import weakref
from types import TracebackType
from typing import Any, Dict, Generator, Iterable, List, Mapping, Optional, Type, Union

from .._errors import Error, NotSent, timeout
from .._fork import Origin
from .._options import Options
from .._retry import Attempts
from .._socket import attempt, automatic_socket
from ..types import READS, EventType
from ._connection import Connection, OnRequest, wait_for
from ._delegate import Answering, Attachment
from ._events import Events, OnStatus
from ._methods import EventsMethods, Methods

_CONNECT_TIMEOUT = 5.0


class EventsCall(EventsMethods):
    """The methods `events.…`. Call it to follow the events."""

    def __init__(self, client: Client) -> None:
        super().__init__(client._send)
        self._client = client

    def __call__(
        self, *, instances: Optional[Iterable[str]] = None, labels: Optional[Mapping[str, str]] = None,
        types: Optional[Iterable[EventType]] = None, since: Optional[str] = None, on_status: Optional[OnStatus] = None,
    ) -> Events:
        """Returns the events as they happen; after the cursor `since`, or from now on. All given filters must match.

        `on_status` is called with each change of the connection's status, such as to show that the daemon is away.
        """
        filters: Dict[str, Any] = {}
        for name, value in (("instances", instances), ("types", types)):
            if value is not None:
                filters[name] = list(value)
        if labels is not None:
            filters["labels"] = dict(labels)
        events = Events(self._client, filters, since, on_status)
        self._client._parts.add(events)
        return events


class Client(Methods):
    """A client of the daemon, for the tasks of one event loop.

    Calls share one connection, which is reopened when it was lost. While the daemon restarts, reads are sent again, and
    writes that surely were not run. A write that may have been run raises `OutcomeUnknown`.
    """

    def __init__(self, socket: Optional[str] = None, options: Optional[Options] = None) -> None:
        super().__init__(self._send)
        self.events: EventsCall = EventsCall(self)
        self._origin = Origin()
        self._location = socket
        self._options = options or Options()
        #: The path of earlier connections, kept so that a reconnect never reaches another daemon.
        self._path: Optional[str] = None
        self._connection: Optional[Connection] = None
        #: Earlier connections that still have calls in progress.
        self._retired: List[Connection] = []
        self._opening: Optional[asyncio.Task[Connection]] = None
        self._calls = 0
        #: The connections of their own that end with the client.
        self._parts: weakref.WeakSet[Union[Events, Attachment]] = weakref.WeakSet()
        self._is_closed = False

    async def call(
        self, method: str, params: Optional[Mapping[str, Any]] = None, *, read: Optional[bool] = None,
        deadline: Optional[float] = None,
    ) -> Any:
        """Calls a method by its name. `read` says whether it may be sent again; by default what the contract says."""
        is_read = method in READS if read is None else read
        return await self._send(method, dict(params or {}), is_read, deadline)

    async def attach(
        self, instances: Iterable[str], answer: Answering, *, timeout: Optional[float] = None
    ) -> Attachment:
        """Attaches a delegate, which answers the instances' questions until it is detached.

        `answer` gets each question, perhaps before this method returns. It returns the answer, or `None` to pass the
        question on; it raises `Denied` to refuse for good. Any other exception is logged (`logging`, `sdkd`) and passes
        the question on. If nobody answers, the caller gets `providerFailed`. `timeout` is the time for an answer, from 0.1 to 60 s; 10 s by default.
        """
        params: Dict[str, Any] = {"instances": list(instances)}
        if timeout is not None:
            params["timeout"] = timeout
        attachment = Attachment(self, params, answer)
        self._parts.add(attachment)
        await attachment._begin()
        return attachment

    async def close(self) -> None:
        """Closes the client. Its calls, events and delegates end."""
        self._is_closed = True
        if not self._origin.is_here:
            # The event loop and its descriptors are still those of the first process.
            return
        for part in list(self._parts):
            part._end()
        if self._opening is not None:
            self._opening.cancel()
        if self._connection is not None:
            self._connection.close()
        for connection in self._retired:
            connection.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.close()

    # Calls

    def _until(self, deadline: Optional[float]) -> float:
        """Returns the time of the loop's clock at which a call that begins now ends."""
        seconds = self._options.deadline if deadline is None else deadline
        if math.isnan(seconds):
            raise ValueError("deadline must be a number")
        return asyncio.get_running_loop().time() + seconds

    async def _send(self, method: str, params: Dict[str, Any], is_read: bool, deadline: Optional[float]) -> Any:
        """Sends a call, and repeats it where that is safe."""
        self._origin.check()
        if self._calls >= self._options.max_calls:
            raise Error("tooManyCalls", f"{self._calls} calls wait already. Call again when some have returned.")
        self._calls += 1
        try:
            return await self._repeat(method, params, is_read, self._until(deadline))
        finally:
            self._calls -= 1

    async def _repeat(self, method: str, params: Dict[str, Any], is_read: bool, until: float) -> Any:
        attempts = Attempts(method, is_read, self._options.retry, self._options.rate_limit_patience)
        while True:
            connection: Optional[Connection] = None
            try:
                connection = await self._shared(until)
                return await connection.call(method, params, until)
            except Error as error:
                failure = error
            was_sent = connection is not None and not isinstance(failure, NotSent) and failure.reason != "tooManyCalls"
            if connection is not None and (not connection.takes_calls or failure._is_restart):
                # A draining daemon answers nothing more on this connection.
                self._forget(connection)
            pause = attempts.pause(failure, was_sent, self._path is not None, random.random())
            # Raise the actual cause now: after the pause only a timeout would be left to raise.
            if asyncio.get_running_loop().time() + pause >= until:
                raise failure
            await asyncio.sleep(pause)

    # Connections

    async def _connect(self) -> Client:
        await self._shared(self._until(None))
        return self

    async def _shared(self, until: float) -> Connection:
        """Returns the connection that calls share; opens one if there is none."""
        if self._connection is not None:
            if self._connection.takes_calls:
                return self._connection
            self._forget(self._connection)
        if self._opening is None:
            self._opening = asyncio.get_running_loop().create_task(self._open())
            self._opening.add_done_callback(self._opened)
        opening = self._opening
        if not await wait_for(opening, until):
            raise timeout()
        if opening.cancelled():
            raise self._closed_error()
        return opening.result()

    def _opened(self, task: asyncio.Task[Connection]) -> None:
        self._opening = None
        if not task.cancelled() and task.exception() is None:
            self._connection = task.result()
            if self._is_closed:
                self._connection.close()

    async def _open(self, on_request: Optional[OnRequest] = None, follows: bool = False) -> Connection:
        """Opens a connection and checks that its server is trusted."""
        self._origin.check()
        if self._is_closed:
            raise self._closed_error()
        path = self._path or (automatic_socket() if self._location is None else self._location)
        until = asyncio.get_running_loop().time() + _CONNECT_TIMEOUT
        pause = 0.001
        while True:
            socket = attempt(path, self._options.trust)
            if socket is not None:
                self._path = path
                return Connection(socket, self._options, on_request, follows)
            if asyncio.get_running_loop().time() + pause >= until:
                raise timeout()
            await asyncio.sleep(pause)
            pause = min(pause * 2, 0.1)

    @staticmethod
    def _closed_error() -> Error:
        return Error("clientClosed", "This client was closed; nothing was sent. Connect again.")

    def _forget(self, connection: Connection) -> None:
        """Uses a connection for no further calls. Calls in progress on it continue."""
        if self._connection is not connection:
            return
        self._connection = None
        connection.retire()
        self._retired = [other for other in (*self._retired, connection) if not other.is_closed]


class Connecting:
    """A client that connects: `async with connect() as daemon`, or `daemon = await connect()`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __await__(self) -> Generator[Any, None, Client]:
        return self._client._connect().__await__()

    async def __aenter__(self) -> Client:
        return await self._client._connect()

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self._client.close()


def connect(socket: Optional[str] = None, *, options: Optional[Options] = None) -> Connecting:
    """Connects to the daemon at the path `socket`; by default see `automatic_socket`. Raises `Error`."""
    return Connecting(Client(socket, options))


__all__: List[str] = ["Client", "connect"]
