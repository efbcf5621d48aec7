"""The way from verifi's threads back into an event loop.

asyncio is imported at first use: a harness without it does not pay for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar
from weakref import WeakValueDictionary

from ._verifi import Outlet, report

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future

    from ._types import Progress

T = TypeVar("T")

Waiter: TypeAlias = "tuple[Outlet, Future[T]]"
"""Whoever awaits something, and the way there."""

# By the loop's id, which is its own since the outlet keeps it. An outlet lives while something is under way.
_outlets: WeakValueDictionary[int, Outlet] = WeakValueDictionary()


class Cancellable(Protocol):
    def cancel(self) -> None: ...


async def settled(start: Callable[[Waiter[T]], Cancellable]) -> T:
    """Awaits what `start` begins. Whatever ends the wait before its time cancels it."""
    from asyncio import get_running_loop

    loop = get_running_loop()
    future: Future[T] = loop.create_future()
    started = start((_outlet(loop), future))
    try:
        return await future
    except BaseException:
        started.cancel()
        # What still comes finds nobody to tell. A loop that was closed under its task tells nobody either, and loudly.
        if not loop.is_closed():
            future.cancel()
        raise


def _outlet(loop: AbstractEventLoop) -> Outlet:
    outlet = _outlets.get(id(loop))
    if outlet is None:
        outlet = _outlets[id(loop)] = Outlet(loop)
    return outlet


def forget_outlets() -> None:
    """In a child after a fork: what is under way there ends in the parent alone."""
    _outlets.clear()


def settle(future: Future[T], value: T, error: BaseException | None) -> None:
    """Runs in the loop."""
    if future.done():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(value)


def hand_over(loop: AbstractEventLoop, function: Callable[..., None], *arguments: Any) -> bool:
    """Calls the function in the loop, from any thread. False when the loop is closed: then nobody waits any more."""
    try:
        loop.call_soon_threadsafe(function, *arguments)
    except RuntimeError:
        return False
    return True


def in_loop(on_progress: Callable[[Progress], object]) -> Callable[[Progress], object]:
    """Calls back in the running loop, not on the thread that brings the news."""
    from asyncio import get_running_loop

    loop = get_running_loop()
    return lambda progress: hand_over(loop, guarded, on_progress, progress)


def guarded(callback: Callable[[T], object], value: T) -> None:
    """Calls back. What is raised is nobody's but `sys.unraisablehook`'s."""
    try:
        callback(value)
    except Exception as error:
        report(error, callback)
