"""The client for programs without asyncio. It runs the asynchronous one on a thread of its own."""

from __future__ import annotations

import asyncio
import threading
import weakref
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from types import TracebackType
from typing import Any, Callable, Coroutine, Dict, Generic, Iterable, Mapping, Optional, Set, Type, TypeVar

from . import aio
from ._errors import Error
from ._fork import Origin
from ._methods import EventsMethods, Methods
from ._options import Options
from .types import Answer, DelegateQuestion, EventType, Item

T = TypeVar("T")

#: Answers a question, or returns `None` to pass it on. Each question is answered on a thread of its own.
Answering = Callable[[DelegateQuestion], Optional[Answer]]


class _Thread(threading.Thread):
    """A thread with an event loop, and the futures on which other threads wait."""

    def __init__(self) -> None:
        super().__init__(name="sdkd", daemon=True)
        self._origin = Origin()
        self._loop = asyncio.new_event_loop()
        # Reentrant: a signal handler may close the client.
        self._lock = threading.RLock()
        self._futures: Set[Future[Any]] = set()
        self._is_closed = False

    def run(self) -> None:
        try:
            self._loop.run_forever()
        finally:
            self._release()

    def submit(self, work: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        """Starts a coroutine on the loop. Raises `Error` when the thread was stopped or has ended."""
        self._origin.check()
        with self._lock:
            if self._is_closed:
                raise _closed()
            future = asyncio.run_coroutine_threadsafe(work(), self._loop)
            self._futures.add(future)
        future.add_done_callback(self._futures.discard)
        return future

    def _release(self) -> None:
        """Cancels the futures that the loop no longer completes."""
        with self._lock:
            self._is_closed = True
            futures = list(self._futures)
        for future in futures:
            future.cancel()

    def stop(self) -> None:
        """Ends the thread. Does nothing in a forked process, which shares the loop's descriptors with the first one."""
        if not self._origin.is_here:
            return
        with self._lock:
            was_closed, self._is_closed = self._is_closed, True
        if self is threading.current_thread():
            return self._loop.stop()
        if not was_closed:
            asyncio.run_coroutine_threadsafe(self._end(), self._loop)
        self.join(5)
        self._release()
        if not self.is_alive():
            self._loop.close()

    async def _end(self) -> None:
        # What waited for a connection that was closed ends by itself, with its own error.
        for cancels in (False, True):
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks if cancels else ():
                task.cancel()
            if tasks:
                await asyncio.wait(tasks, timeout=1)
        self._loop.stop()


class _Runner:
    """An event loop on a thread, which ends with this object."""

    def __init__(self) -> None:
        self._thread = _Thread()
        self._thread.start()
        #: Ends the thread. Calls that wait in other threads end first.
        self.stop = weakref.finalize(self, self._thread.stop)

    def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Runs a coroutine and waits for its result. An exception here, such as Ctrl-C, cancels it."""
        if threading.current_thread() is self._thread:
            raise RuntimeError("The client's own thread can't wait for it.")
        future = self._thread.submit(work)
        try:
            return future.result()
        except CancelledError:
            raise _closed() from None
        except BaseException:
            future.cancel()
            raise


def _closed() -> Error:
    return aio.Client._closed_error()


class _Part(Generic[T]):
    """What runs on the client's thread and is closed with it."""

    def __init__(self, runner: _Runner, part: T) -> None:
        self._runner = runner
        self._part = part


class Events(_Part[aio.Events]):
    """An iterator over events, for one reader; see `sdkd.aio.Events`."""

    @property
    def cursor(self) -> Optional[str]:
        """The cursor of the last item taken. Before the first item: where the subscription began."""
        return self._part.cursor

    @property
    def status(self) -> aio.ConnectionStatus:
        """The status of the connection. A loss is noticed while an item is awaited."""
        return self._part.status

    def start(self) -> None:
        """Subscribes now instead of with the first item. If you call it before you read the state, you miss nothing after that."""
        self._runner.run(self._part.start)

    def take(self, deadline: Optional[float] = None) -> Optional[Item]:
        """Returns the next item, or `None` when `deadline` seconds have passed or the iterator was closed."""
        return self._runner.run(lambda: self._part.take(deadline))

    def close(self) -> None:
        """Ends the iteration, also one that waits in another thread."""
        self._runner.run(self._part.close)

    def __iter__(self) -> Events:
        return self

    def __next__(self) -> Item:
        item = self.take()
        if item is None:
            raise StopIteration
        return item

    def __enter__(self) -> Events:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()


class Attachment(_Part[aio.Attachment]):
    """The attachment of a delegate. Iterate over it to follow its statuses; see `sdkd.aio.Attachment`."""

    @property
    def status(self) -> aio.Status:
        """The current status."""
        return self._part.status

    def detach(self) -> None:
        """Detaches the delegate: the daemon asks it no more and does not wait for its return.

        While the connection is lost, the daemon can't be told, and waits for the delegate up to `delegate.grace`.
        """
        self._runner.run(self._part.detach)

    def __iter__(self) -> Attachment:
        return self

    def __next__(self) -> aio.Status:
        status = self._runner.run(self._part.next)
        if status is None:
            raise StopIteration
        return status

    def __enter__(self) -> Attachment:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.detach()


class EventsCall(EventsMethods):
    """The methods `events.…`. Call it to follow the events."""

    def __init__(self, client: Client) -> None:
        super().__init__(client._send)
        self._client = client

    def __call__(
        self, *, instances: Optional[Iterable[str]] = None, labels: Optional[Mapping[str, str]] = None,
        types: Optional[Iterable[EventType]] = None, since: Optional[str] = None, on_status: Optional[aio.OnStatus] = None,
    ) -> Events:
        """Returns the events as they happen; after the cursor `since`, or from now on. All given filters must match.

        `on_status` is called with each change of the connection's status, such as to show that the daemon is away. It runs
        on the client's own thread: it must return soon and can't call the client.
        """
        events = self._client._client.events(
            instances=instances, labels=labels, types=types, since=since, on_status=on_status
        )
        return Events(self._client._runner, events)


class Client(Methods):
    """A client of the daemon, for any number of threads.

    Calls share one connection, which is reopened when it was lost. While the daemon restarts, reads are sent again, and
    writes that surely were not run. A write that may have been run raises `OutcomeUnknown`. A process that forks
    connects after that; in the forked process, this client's methods raise `clientClosed`.
    """

    def __init__(self, socket: Optional[str] = None, options: Optional[Options] = None) -> None:
        super().__init__(self._send)
        self.events: EventsCall = EventsCall(self)
        self._client = aio.Client(socket, options)
        self._runner = _Runner()

    def call(
        self, method: str, params: Optional[Mapping[str, Any]] = None, *, read: Optional[bool] = None,
        deadline: Optional[float] = None,
    ) -> Any:
        """Calls a method by its name. `read` says whether it may be sent again; by default what the contract says."""
        return self._runner.run(lambda: self._client.call(method, params, read=read, deadline=deadline))

    def attach(
        self, instances: Iterable[str], answer: Answering, *, timeout: Optional[float] = None
    ) -> Attachment:
        """Attaches a delegate, which answers the instances' questions until it is detached.

        `answer` gets each question, perhaps before this method returns. It returns the answer, or `None` to pass the
        question on; it raises `Denied` to refuse for good. Any other exception is logged (`logging`, `sdkd`) and passes
        the question on. If nobody answers, the caller gets `providerFailed`. `timeout` is the time for an answer, from 0.1 to 60 s; 10 s by default.
        """
        async def respond(question: DelegateQuestion) -> Optional[Answer]:
            return await _on_thread(answer, question)

        part = self._runner.run(lambda: self._client.attach(instances, respond, timeout=timeout))
        return Attachment(self._runner, part)

    def close(self) -> None:
        """Closes the client. Its calls, events and delegates end."""
        with suppress(Error):  # The client was closed before.
            self._runner.run(self._client.close)
        self._runner.stop()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def _send(self, method: str, params: Dict[str, Any], is_read: bool, deadline: Optional[float]) -> Any:
        return self._runner.run(lambda: self._client._send(method, params, is_read, deadline))


async def _on_thread(answer: Answering, question: DelegateQuestion) -> Optional[Answer]:
    """Runs a handler on a thread that keeps no process from ending, however long it takes."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Optional[Answer]] = loop.create_future()

    def settle(result: Optional[Answer], error: Optional[BaseException]) -> None:
        if not future.done():
            future.set_exception(error) if error is not None else future.set_result(result)

    def run() -> None:
        result, failure = None, None
        try:
            result = answer(question)
        except BaseException as error:
            failure = error
            if isinstance(error, StopIteration) or not isinstance(error, Exception):
                # A future can't hold a StopIteration, and a SystemExit would end the client's thread.
                failure = RuntimeError(repr(error))
                failure.__cause__ = error
        try:
            loop.call_soon_threadsafe(settle, result, failure)
        except RuntimeError:
            pass  # The client was closed.

    threading.Thread(target=run, name="sdkd question", daemon=True).start()
    return await future


def connect(socket: Optional[str] = None, *, options: Optional[Options] = None) -> Client:
    """Connects to the daemon at the path `socket`; by default see `automatic_socket`. Raises `Error`."""
    client = Client(socket, options)
    try:
        client._runner.run(client._client._connect)
    except BaseException:
        client.close()
        raise
    return client
