"""Journals: the files in which runs keep their events."""

from __future__ import annotations

from collections.abc import Iterator
from json import loads
from os import PathLike, fspath
from typing import cast

from . import _verifi
from ._types import Event, Verification


def verify_journal(path: str | PathLike[str]) -> Verification:
    """Check a journal from its first line to its last. Memory does not grow with the file.

    A journal that is being written may be checked, too. That it does not hold is no error: the result says so.

    Returns:
        `events`, how many hold; `missing`, how many the file itself says it lacks; `ok`; `head`, the hash of the last
        line that holds; and, if `ok` is false, `fault` with the `line` and `what` is wrong with it.

    Raises:
        JournalError: The file cannot be read.
    """
    return cast("Verification", loads(_verifi.verify_journal(fspath(path))))


def read_journal(path: str | PathLike[str]) -> Iterator[Event]:
    """The events of a journal in order, each checked before it is given. Memory does not grow with the file.

    Raises:
        JournalError: The file cannot be opened; while iterating, a line that does not hold.
    """
    # Opened here, so that a file that is not there is told at once.
    return _events(_verifi.JournalReader(fspath(path)))


def _events(reader: _verifi.JournalReader) -> Iterator[Event]:
    while (event := reader.next()) is not None:
        yield cast("Event", loads(event))
