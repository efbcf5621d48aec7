"""Listening to a run."""

from __future__ import annotations

from collections import deque
from json import loads
from queue import SimpleQueue
from typing import TYPE_CHECKING, cast

from ._asyncio import guarded, hand_over
from ._exit import read_on_thread

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future
    from collections.abc import Callable
    from logging import Logger
    from types import TracebackType

    from typing_extensions import Self

    from . import _verifi
    from ._run import Run
    from ._types import Event

    Wanted = SimpleQueue["tuple[AbstractEventLoop, Future[str | None]] | None"]


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

    __slots__ = ("_kept", "_wanted")

    def __init__(self, native: _verifi.Subscription) -> None:
        super().__init__(native)
        # What came for a reader that no longer wanted it.
        self._kept: deque[str | None] = deque()
        self._wanted: Wanted | None = None

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        text = self._at_hand() or self._native.wait()
        if text is None:
            raise StopIteration
        return cast("Event", loads(text))

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        text = self._at_hand() or await self._from_thread()
        if text is None:
            raise StopAsyncIteration
        return cast("Event", loads(text))

    def close(self) -> None:
        super().close()
        if self._wanted is not None:
            self._wanted.put(None)

    def __del__(self) -> None:
        self.close()

    def _at_hand(self) -> str | None:
        return self._kept.popleft() if self._kept else self._native.take()

    async def _from_thread(self) -> str | None:
        """A loop must not wait: a thread does, for one event at a time."""
        from asyncio import get_running_loop

        loop = get_running_loop()
        future: Future[str | None] = loop.create_future()
        if self._wanted is None:
            self._wanted = wanted = SimpleQueue()
            native, kept = self._native, self._kept
            read_on_thread("verifi-stream", lambda: _bring(native, wanted, kept))
        self._wanted.put((loop, future))
        return await future


def _bring(native: _verifi.Subscription, wanted: Wanted, kept: deque[str | None]) -> None:
    while (reader := wanted.get()) is not None:
        loop, future = reader
        text = native.wait()
        if not hand_over(loop, _deliver, future, text, kept):
            kept.append(text)


def _deliver(future: Future[str | None], text: str | None, kept: deque[str | None]) -> None:
    if future.done():
        kept.append(text)
    else:
        future.set_result(text)


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
