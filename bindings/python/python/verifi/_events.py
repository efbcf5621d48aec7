"""Listening to a run."""

from __future__ import annotations

from collections import deque
from json import loads
from threading import Lock
from typing import TYPE_CHECKING, cast

from ._asyncio import guarded, hand_over, settle
from ._exit import read_on_thread

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future
    from collections.abc import Callable
    from logging import Logger
    from queue import SimpleQueue
    from types import TracebackType

    from typing_extensions import Self

    from . import _verifi
    from ._run import Run
    from ._types import Event


class _Closing:
    """What is closed at the end of a `with` statement."""

    __slots__ = ("__weakref__", "_native")

    def __init__(self, native: _verifi.Subscription) -> None:
        self._native = native

    def close(self) -> None:
        """Ends it, also for those that wait for an event. To close it again does nothing."""
        self._native.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class Subscription(_Closing):
    """Keeps calling back until it is closed; `Run.subscribe` gives it. It need not be kept.

    It is the process's own: in a child after a fork it has ended.
    """

    __slots__ = ()

    def __init__(self, native: _verifi.Subscription, callback: Callable[[Event], object]) -> None:
        super().__init__(native)
        read_on_thread("verifi-subscriber", lambda: _call_back(native, callback))


def _call_back(native: _verifi.Subscription, callback: Callable[[Event], object]) -> None:
    while (text := native.wait()) is not None:
        guarded(callback, cast("Event", loads(text)))


class EventStream(_Closing):
    """The events of a run as they happen, each once; `Run.stream` gives it.

    It is a place in the run's own list and holds up nobody. A reader that falls more than 10 000 events behind loses
    the oldest, which shows as a gap in `seq`. Readers of one stream share its place.
    """

    __slots__ = ("_ahead",)

    def __init__(self, native: _verifi.Subscription) -> None:
        super().__init__(native)
        self._ahead = _Ahead(native)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        text = self._ahead.at_hand() or self._native.wait()
        if text is None:
            raise StopIteration
        return cast("Event", loads(text))

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        while (text := self._ahead.at_hand()) is None:
            if not await self._ahead.comes():
                raise StopAsyncIteration
        return cast("Event", loads(text))

    def close(self) -> None:
        super().close()
        self._ahead.close()

    def __del__(self) -> None:
        self.close()


class _Ahead:
    """Waits in the place of event loops, which must not: on a thread of its own, for one event at a time.

    What the thread has taken lies ready for whoever comes next, so that a reader who is cancelled takes nothing along.
    """

    __slots__ = ("_asked", "_closed", "_events", "_lock", "_native", "_questions", "_readers")

    def __init__(self, native: _verifi.Subscription) -> None:
        self._native = native
        self._lock = Lock()
        self._events: deque[str] = deque()
        self._readers: list[tuple[AbstractEventLoop, Future[bool]]] = []
        self._questions: SimpleQueue[bool] | None = None
        # Whether the thread is waiting for an event, which then comes before all that can be taken directly.
        self._asked = False
        self._closed = False

    def at_hand(self) -> str | None:
        """The next event if it is there."""
        with self._lock:
            if self._events:
                return self._events.popleft()
            return None if self._asked else self._native.take()

    async def comes(self) -> bool:
        """Waits until there may be an event; False at the end."""
        from asyncio import get_running_loop

        loop = get_running_loop()
        future: Future[bool] = loop.create_future()
        with self._lock:
            if self._closed:
                return False
            self._readers.append((loop, future))
            if not self._asked:
                self._asked = True
                self._ask()
        return await future

    def close(self) -> None:
        self._closed = True
        if self._questions is not None:
            self._questions.put(False)

    def _ask(self) -> None:
        from queue import SimpleQueue

        if self._questions is None:
            self._questions = SimpleQueue()
            read_on_thread("verifi-stream", self._answer)
        self._questions.put(True)

    def _answer(self) -> None:
        while self._questions is not None and self._questions.get():
            text = self._native.wait()
            with self._lock:
                if text is not None:
                    self._events.append(text)
                self._asked = False
                readers, self._readers = self._readers, []
            for loop, future in readers:
                hand_over(loop, settle, future, text is not None, None)


_WARNINGS = ("tool_error", "mcp.fallback_used", "mcp.no_healthy_tool")
_DETAILS = ("call_started", "call_finished")


def log_events(run: Run, logger: Logger | None = None) -> Subscription:
    """Writes the run's events, from the next one on, to a logger.

    Calls are DEBUG, failures and failovers WARNING, a journal that can't be written ERROR, and all else INFO. The whole
    event is the record's attribute `verifi`.

    Args:
        logger: `logging.getLogger("verifi")` unless given.
    """
    import logging

    levels = dict.fromkeys(_WARNINGS, logging.WARNING) | dict.fromkeys(_DETAILS, logging.DEBUG)
    levels["journal_failed"] = logging.ERROR
    target = logger or logging.getLogger("verifi")

    def write(event: Event) -> None:
        level = levels.get(event["kind"], logging.INFO)
        if target.isEnabledFor(level):
            target.log(level, "%s", _line(event), extra={"verifi": event})

    return run.subscribe(write)


def _line(event: Event) -> str:
    told = [event["runId"], event["kind"]]
    told += [str(event[part]) for part in ("slot", "tool", "endpoint", "fallback", "outcome") if part in event]
    if "latencyMs" in event:
        told.append(f"{event['latencyMs']:.1f} ms")
    told += [event[part] for part in ("error", "message") if part in event]
    return " ".join(told)
