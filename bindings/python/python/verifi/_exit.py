"""The end of the interpreter, and forks."""

from __future__ import annotations

import atexit
import os
import weakref
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING

from . import _verifi
from ._asyncio import forget_outlets

if TYPE_CHECKING:
    from collections.abc import Callable

_readers: weakref.WeakSet[Thread] = weakref.WeakSet()

# In seconds, for all threads together.
_LIMIT = 1.0


def read_on_thread(name: str, target: Callable[[], None]) -> Thread:
    """A thread that reads events: it does not keep the process, and is waited for a moment at exit."""
    thread = Thread(target=target, name=name, daemon=True)
    _readers.add(thread)
    thread.start()
    return thread


def _end() -> None:
    _verifi.close_all()
    # With the runs, their events have ended.
    deadline = monotonic() + _LIMIT
    for thread in list(_readers):
        thread.join(max(0.0, deadline - monotonic()))
    _verifi.shut()


def _forked() -> None:
    _readers.clear()
    _verifi.forked()
    forget_outlets()


atexit.register(_end)
os.register_at_fork(after_in_child=_forked)
