"""A slot: the one way to a tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from json import loads
from typing import TYPE_CHECKING, Any, cast

from ._asyncio import in_loop, settled
from ._request import check_timeout, request

if TYPE_CHECKING:
    from . import _verifi
    from ._asyncio import Waiter
    from ._types import Progress, ServerHealth, ToolDefinition
    from ._verifi import ToolResult


class Slot:
    """A named capability of a run, and the servers that the manifest bound to it. `Run.mcp` gives it.

    Every thread and every event loop may use it, at the same time too. It keeps its run open.
    """

    __slots__ = ("__weakref__", "_native")

    def __init__(self, native: _verifi.Slot) -> None:
        self._native = native

    @property
    def name(self) -> str:
        """The slot's name."""
        return self._native.name

    @property
    def endpoint(self) -> str:
        """The MCP endpoint of the slot's first server, with its query."""
        return self._native.endpoint

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        on_progress: Callable[[Progress], object] | None = None,
    ) -> ToolResult:
        """Calls a tool and waits for its result, while other threads go on.

        Nothing that happens to the call is raised: a dead server, a garbage answer, arguments that are no JSON and a
        closed run are all results. Only a signal's handler may raise: Ctrl-C ends the wait in the main thread at once
        with KeyboardInterrupt, and the call is cancelled.

        Args:
            tool: The tool's name.
            arguments: Anything that `json.dumps` makes a JSON object of. Integers keep every digit.
            timeout: In seconds, in place of the run's own limit. Each further server has it again after a failure.
            on_progress: Called with a `Progress` for each notice from the server, on another thread when the main
                thread waits; the call waits for it. What it raises goes to `sys.unraisablehook`.
        """
        return self._native.call(*request(tool, arguments, timeout, on_progress))

    async def call_async(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        on_progress: Callable[[Progress], object] | None = None,
    ) -> ToolResult:
        """`call` for asyncio. It takes no place in the loop's executor.

        Cancelling the task cancels the call, and raises `asyncio.CancelledError` as usual. `on_progress` is called in
        the loop.
        """
        if callable(on_progress):
            on_progress = in_loop(on_progress)
        made = request(tool, arguments, timeout, on_progress)
        return await settled(lambda waiter: self._native.start(*made, waiter))

    def list_tools(self, *, timeout: float | None = None) -> list[str]:
        """The names of the slot's tools, all pages of them. Waits like `call`.

        Args:
            timeout: In seconds, for each server, in place of the run's own limit.

        Raises:
            ListToolsError: No server gave a list.
            TypeError, ValueError: The timeout is not one.
        """
        return [name for name, _ in self._native.definitions(_seconds(timeout))]

    async def list_tools_async(self, *, timeout: float | None = None) -> list[str]:
        """`list_tools` for asyncio."""
        return [name for name, _ in await self._listed(timeout)]

    def tool_definitions(self, *, timeout: float | None = None) -> list[ToolDefinition]:
        """The definitions of the slot's tools as dicts in MCP's form. Waits and raises like `list_tools`.

        The form that most model APIs want for function calling::

            def functions(slot):
                return [
                    {
                        "type": "function",
                        "function": {
                            "name": tool["name"],
                            "description": tool.get("description", ""),
                            "parameters": tool["inputSchema"],
                        },
                    }
                    for tool in slot.tool_definitions()
                ]

        The model's answer then goes back in by `slot.call(call.name, json.loads(call.arguments))`.
        """
        return [loads(text) for _, text in self._native.definitions(_seconds(timeout))]

    async def tool_definitions_async(self, *, timeout: float | None = None) -> list[ToolDefinition]:
        """`tool_definitions` for asyncio."""
        return [loads(text) for _, text in await self._listed(timeout)]

    async def _listed(self, timeout: float | None) -> list[tuple[str, str]]:
        seconds = _seconds(timeout)

        def start(waiter: Waiter[list[tuple[str, str]]]) -> _verifi.Call:
            return self._native.start_definitions(seconds, waiter)

        return await settled(start)

    def health(self) -> list[ServerHealth]:
        """What verifi knows of each of the slot's servers, in the order in which they are tried."""
        return cast("list[ServerHealth]", loads(self._native.health()))

    def __repr__(self) -> str:
        return f"Slot({self.name!r})"


def _seconds(timeout: float | None) -> float | None:
    return None if timeout is None else check_timeout(timeout)
