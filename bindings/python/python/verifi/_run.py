"""A run: a manifest that was opened, its slots, its books."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from json import dumps, loads
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal, cast

from . import _verifi
from ._asyncio import settled
from ._errors import ManifestError, OptionsError
from ._events import EventStream, Subscription
from ._options import in_own_words, options_json
from ._slot import Slot

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from ._asyncio import Waiter
    from ._types import Event, Ledger


class Run:
    """One scan job: the slots that the platform bound to it, its ledger and its timeline.

    Use it in a `with` or `async with` statement, or call `close`. One that is neither closed nor in use is closed when
    it is collected, and one that is left is closed when the interpreter exits. Every thread and every event loop may
    use it. A child after a fork has the same slots with connections, ledger and timeline of its own, which begin empty;
    its parent's go on undisturbed.

    What is scrubbed from all that the run's servers say: the secrets of this process's environment (see
    `collect_run_secrets`), `secrets`, the headers of the manifest, and the client secrets in it with each token that
    comes for them.

    Args:
        manifest: What the platform bound to the run, as a mapping or as JSON text. A fill may have `auth`: `tokenUrl`,
            `clientId`, `clientSecret` and, if the server wants one, `scope`. The server's tokens are then fetched by
            OAuth's client credentials. `${env:NAME}` stands for an environment variable, as in `headers`.
        timeout: How long a call may take, in seconds: 300 unless set. A call on the next server after a failure has
            this long again.
        max_response_bytes: How many bytes an answer may have, after decompression: 256 MiB unless set.
        secrets: Values to scrub beside those that are found.
        elicitation: What a server is told that asks the user something in the middle of a call: "decline", or
            "defaults", which accepts with the defaults of the server's own schema.
        replay: What becomes of a call that may have run on one server when its answer was lost: "always" sends it to
            the next server, "safe" only if the tool is known to be read-only or idempotent.
        retry_primary_after: After how many seconds a slot's first server is tried again in the background when it has
            failed. Never unless set.
        journal: A file in which the run keeps its events as they happen, each line with the hash of the line before.
            One that is there already is gone on with, if it is of this run and holds. A forked child writes to a file
            of its own beside it, `PATH.PID`.
        sync: When the journal is forced onto the disk: "finish", at the end of the run; "always", after each event;
            "none", never. What was written survives the end of the process in any case; only what was forced onto the
            disk survives a power failure.

    Raises:
        JournalError: The journal cannot be opened, is in use, is of another run, or does not hold.
        ManifestError: The manifest is not one; the message names the member.
        OptionsError: An option is not one; the message names it.
    """

    __slots__ = ("__weakref__", "_native", "_slots")

    def __init__(
        self,
        manifest: Mapping[str, Any] | str,
        *,
        timeout: float | None = None,
        max_response_bytes: int | None = None,
        secrets: Iterable[str] = (),
        elicitation: Literal["decline", "defaults"] = "decline",
        replay: Literal["always", "safe"] = "always",
        retry_primary_after: float | None = None,
        journal: str | PathLike[str] | None = None,
        sync: Literal["none", "finish", "always"] = "finish",
    ) -> None:
        options = options_json(
            timeout=timeout,
            max_response_bytes=max_response_bytes,
            secrets=secrets,
            elicitation=elicitation,
            replay=replay,
            retry_primary_after=retry_primary_after,
            journal=None if journal is None else fspath(journal),
            sync=sync,
        )
        try:
            self._native = _verifi.Run(_manifest_json(manifest), options)
        except OptionsError as error:
            raise OptionsError(in_own_words(str(error))) from None
        self._slots: dict[str, Slot] = {}

    @property
    def id(self) -> str:
        """The run's id, as the manifest has it. A tool server that several runs share wants it as `workspace`."""
        return self._native.id

    @property
    def slot_names(self) -> list[str]:
        """The names of the slots that the manifest fills, sorted."""
        return self._native.slot_names

    def mcp(self, slot: str) -> Slot:
        """The slot of that name: the same each time.

        Raises:
            SlotNotFilledError: The manifest has no server for it.
        """
        known = self._slots.get(slot)
        # Of two threads that come first, both get the one that was put in.
        return known or self._slots.setdefault(slot, Slot(self._native.slot(slot)))

    def ledger(self) -> Ledger:
        """What the run has used so far, in all, by slot and by tool. Times are in milliseconds."""
        return cast("Ledger", loads(self._native.ledger()))

    def events(self) -> list[Event]:
        """The run's latest 10 000 events, in order."""
        return [loads(text) for text in self._native.events()]

    def subscribe(self, callback: Callable[[Event], object], *, since: int | None = None) -> Subscription:
        """Calls back for each event until the run or the subscription is closed, in order, on a thread of its own.

        A callback holds up no call. One that is more than 10 000 events behind misses the oldest of them. What it
        raises goes to `sys.unraisablehook`, and the next event follows.

        Args:
            callback: Called with the event.
            since: The `seq` of the first event, as far as it is kept; 1 gives all. Unless set, the next one.
        """
        return Subscription(self._native.subscribe(since), callback)

    def stream(self, *, since: int | None = None) -> EventStream:
        """The run's events as they happen, for `async for`, and for `for`, which waits. It ends with the run.

        Args:
            since: As for `subscribe`.
        """
        return EventStream(self._native.subscribe(since))

    def log(self, line: str) -> None:
        """Puts a line of the harness's own on the timeline, scrubbed. On a closed run it does nothing."""
        self._native.log(line.encode("utf-8", "replace").decode())

    def close(self) -> None:
        """Ends the run, in 2 s at the most: calls under way come back as cancelled, and sessions are ended.

        Ledger and events can still be read; later calls are rejected. To close it again does nothing.
        """
        self._native.close()

    async def close_async(self) -> None:
        """`close` for asyncio. `async with` awaits it."""
        await settled(self._start_close)

    def _start_close(self, waiter: Waiter[None]) -> _Uncancellable:
        self._native.start_close(waiter)
        return _Uncancellable()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close_async()

    def __repr__(self) -> str:
        return f"Run({self.id!r})"


class _Uncancellable:
    """What has begun to close does not stop."""

    def cancel(self) -> None:
        pass


def _manifest_json(manifest: object) -> str:
    if isinstance(manifest, str):
        return manifest
    try:
        return dumps(manifest, allow_nan=False)
    except Exception as error:
        raise ManifestError(f"the manifest is not JSON: {type(error).__name__}: {error}") from None
