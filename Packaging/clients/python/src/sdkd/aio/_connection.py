"""One connection to a daemon: calls in both directions, and notifications."""

from __future__ import annotations

import asyncio
import itertools
import math
import socket
from collections import deque
from typing import Any, Awaitable, Callable, Deque, Dict, Optional, Tuple, Union

from .. import _wire
from .._errors import Error, NotSent, bad_answer, closed, refusal, timeout
from .._options import Options

#: Answers a request of the daemon with the `result` or `error` member of the response.
OnRequest = Callable[[str, Any], Awaitable[Dict[str, Any]]]

_CANCEL = "$/cancelRequest"


async def wait_for(future: asyncio.Future[Any], until: float) -> bool:
    """Waits for a future until a time of the loop's clock. Returns whether it is done; it is never cancelled."""
    if not future.done():
        left = None if math.isinf(until) else max(0.0, until - asyncio.get_running_loop().time())
        await asyncio.wait({future}, timeout=left)
    return future.done()


class Connection:
    """Reads in a task of its own. Sends directly as far as the socket takes the bytes."""

    def __init__(
        self, connection: socket.socket, options: Options, on_request: Optional[OnRequest] = None, follows: bool = False
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._socket = connection
        self._options = options
        self._on_request = on_request
        #: Whether notifications are taken; they are dropped otherwise.
        self._follows = follows
        self._ids = itertools.count(1)
        #: The futures of the calls without a response, with the count of sent bytes at which they have been sent as a
        #: whole. An abandoned call stays, because an error without an id may concern it.
        self._calls: Dict[int, Tuple[asyncio.Future[Any], int]] = {}
        self._answers: Dict[Union[int, str], asyncio.Task[None]] = {}
        self._notifications: Deque[Tuple[str, Dict[str, Any]]] = deque()
        self._changed = asyncio.Event()
        self._room = asyncio.Event()
        self._unsent = bytearray()
        self._sent = 0
        #: Whether the daemon no longer reads. What it has sent before is still read.
        self._is_broken = False
        self._has_answered = False
        #: The last error without an id that concerns no known call. It explains why the daemon closes the connection.
        self._last_word: Optional[Error] = None
        #: Whether the daemon may read no further calls on this connection. Responses to earlier ones still come.
        self._takes_no_calls = False
        self._end: Optional[Error] = None
        self._pump = self._loop.create_task(self._read())

    @property
    def is_closed(self) -> bool:
        """Whether the connection has ended."""
        return self._end is not None

    @property
    def takes_calls(self) -> bool:
        """Whether new calls may use this connection."""
        return self._end is None and not self._takes_no_calls

    # Calls

    async def call(self, method: str, params: Dict[str, Any], until: float) -> Any:
        """Returns the result of a method. Raises `Error`; a cancelled or late call is cancelled at the daemon."""
        if self._takes_no_calls:
            # The last word concerns an earlier call.
            raise NotSent()
        if self._end is not None:
            raise self._last_word or NotSent()
        number = next(self._ids)
        line = _wire.text(id=number, method=method, params=params)
        if len(self._unsent) + len(line) > self._options.max_unsent and self._unsent:
            raise Error("tooManyCalls", "The daemon does not read: too much waits for it already. Call again later.")
        future: asyncio.Future[Any] = self._loop.create_future()
        end = self._sent + len(self._unsent) + len(line)
        self._calls[number] = (future, end)
        try:
            self._write(line)
            if self._is_broken and self._sent < end:
                del self._calls[number]
                raise self._last_word or NotSent()
            if not await wait_for(future, until):
                raise timeout()
            return future.result()
        finally:
            if not future.done():
                future.cancel()
                self._notify(_CANCEL, {"id": number})
            elif not future.cancelled():
                future.exception()
            if self._takes_no_calls:
                self.retire()

    def retire(self) -> None:
        """Takes no new calls. The connection ends with the last call in progress."""
        self._takes_no_calls = True
        if all(future.done() for future, _ in self._calls.values()):
            self.close()

    def _notify(self, method: str, params: Dict[str, Any]) -> None:
        if self._end is None:
            self._write(_wire.text(method=method, params=params))

    # Notifications

    async def notification(self, until: float) -> Optional[Tuple[str, Dict[str, Any]]]:
        """Returns the next notification, or `None` when the time is over. Raises the end of the connection."""
        while not self._notifications:
            if self._end is not None:
                raise self._last_word or self._end
            self._changed.clear()
            waiter = self._loop.create_task(self._changed.wait())
            try:
                if not await wait_for(waiter, until):
                    return None
            finally:
                waiter.cancel()
        self._room.set()
        return self._notifications.popleft()

    async def ended(self) -> Error:
        """Waits until the connection has ended. Returns the cause."""
        while True:
            try:
                await self.notification(math.inf)
            except Error as error:
                return error

    # Sending

    def _write(self, line: bytes) -> None:
        if self._is_broken:
            return
        waits = bool(self._unsent)
        self._unsent += line
        if not waits:
            self._flush()

    def _flush(self) -> None:
        """Sends as much as the socket takes now; the loop calls it again for the rest."""
        try:
            while self._unsent:
                count = self._socket.send(self._unsent[: 1 << 18], socket.MSG_NOSIGNAL)
                self._sent += count
                del self._unsent[:count]
        except (BlockingIOError, InterruptedError):
            self._loop.add_writer(self._socket, self._flush)
            return
        except OSError:
            self._is_broken = True
            self._unsent.clear()
        self._loop.remove_writer(self._socket)

    # Receiving

    async def _read(self) -> None:
        end = closed()
        try:
            lines = _wire.Lines(self._options.max_line)
            while True:
                data = await self._loop.sock_recv(self._socket, 1 << 16)
                if not data:
                    break
                for line in lines.feed(data):
                    for message in _wire.messages(line):
                        await self._take(message)
        except OSError:
            pass
        except Error as error:
            end = error
        finally:
            self._finish(end)

    async def _take(self, message: Dict[str, Any]) -> None:
        method, params = message.get("method"), message.get("params")
        if "method" not in message:
            self._settle(message)
        elif not isinstance(method, str):
            raise bad_answer("a method that is not a text.")
        elif "id" in message:
            self._answer(message["id"], method, params)
        elif method == _CANCEL:
            number = params.get("id") if isinstance(params, dict) else None
            task = self._answers.get(number) if isinstance(number, (int, str)) else None
            if task is not None:
                task.cancel()
        elif self._follows and isinstance(params, dict):
            while len(self._notifications) >= self._options.max_events:
                self._room.clear()
                await self._room.wait()
            self._notifications.append((method, params))
            self._changed.set()

    def _settle(self, message: Dict[str, Any]) -> None:
        number = message.get("id")
        if number is None and "error" in message:
            if len(self._calls) != 1:
                self._last_word = refusal(message["error"])
                if not self._calls and not self._has_answered:
                    # Before any call, the error refuses the connection.
                    raise closed()
                self._takes_no_calls = True
                return
            # The daemon could not read the id, and it can concern this call only. It may read nothing more.
            only, _ = self._calls.popitem()[1]
            if not only.done():
                only.set_exception(refusal(message["error"]))
            raise closed()
        elif "error" not in message and "result" not in message:
            raise bad_answer("a response without result and error.")
        else:
            self._has_answered = True
            self._last_word = None
        future, _ = self._calls.pop(number, (None, 0)) if type(number) is int else (None, 0)
        if future is None or future.done():
            return
        if "error" in message:
            future.set_exception(refusal(message["error"]))
        else:
            future.set_result(message["result"])

    def _answer(self, number: Any, method: str, params: Any) -> None:
        """Runs the handler of a request in a task."""
        if not isinstance(number, (int, str)):
            raise bad_answer("a request whose id is neither a number nor a text.")
        if self._on_request is None:
            error = {"code": -32601, "message": f"This client answers no {method}.", "data": {"reason": "methodNotFound"}}
            self._write(_wire.text(id=number, error=error))
        elif len(self._answers) >= self._options.max_questions:
            error = {"code": -32040, "message": "The delegate is busy.", "data": {"reason": "providerFailed"}}
            self._write(_wire.text(id=number, error=error))
        elif number not in self._answers:
            task = self._answers[number] = self._loop.create_task(self._respond(number, method, params))
            task.add_done_callback(lambda task: self._forget(number, task))

    def _forget(self, number: Union[int, str], task: asyncio.Task[None]) -> None:
        if self._answers.get(number) is task:
            del self._answers[number]

    async def _respond(self, number: Union[int, str], method: str, params: Any) -> None:
        assert self._on_request is not None
        members = await self._on_request(method, params)
        # Removed before the response is sent: the daemon may reuse the id as soon as it has the response.
        self._answers.pop(number, None)
        if self._end is None:
            self._write(_wire.text(id=number, **members))

    # The end

    def close(self) -> None:
        """Ends the connection. Calls in progress raise `connectionClosed`."""
        self._finish(closed())

    def _finish(self, end: Error) -> None:
        if self._end is not None:
            return
        self._end = end
        self._pump.cancel()
        self._loop.remove_writer(self._socket)
        self._loop.remove_reader(self._socket)
        self._socket.close()
        # The last word concerns one call, or the connection as a whole. It fails the calls unless there are several and
        # the connection has worked before: then its call is unknown.
        word = self._last_word if len(self._calls) == 1 or not self._has_answered else None
        for future, complete in self._calls.values():
            if not future.done():
                # A part of a JSON text is no call: what was not sent as a whole was not run.
                future.set_exception(word or (end if self._sent >= complete else NotSent()))
        for task in list(self._answers.values()):
            task.cancel()
        self._changed.set()
        self._room.set()
