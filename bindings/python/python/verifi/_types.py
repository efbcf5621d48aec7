"""The shapes of what verifi tells. Their members are named as in every other language, and as in the journal."""

from typing import Any, Literal, NamedTuple, TypedDict

Outcome = Literal["ok", "tool_error", "refused", "unreachable", "timed_out", "cancelled", "rejected"]
Server = Literal["primary", "fallback"]

ToolDefinition = dict[str, Any]
"""A tool as MCP describes it: `name`, `description`, `inputSchema`, and what else its server adds."""


class Progress(NamedTuple):
    """What a server says of a call that is under way."""

    progress: float
    """How far it is. It grows with each notice."""
    total: float | None
    """Where it will end, if the server knows."""
    message: str | None
    """What it is doing, scrubbed."""


class _EventBase(TypedDict):
    seq: int
    ts: str
    runId: str
    kind: str


class Event(_EventBase, total=False):
    """Something that happened to a run; what does not apply is absent.

    `seq` counts from 1 without gaps, `ts` is RFC 3339 in UTC with milliseconds, `latencyMs` is in milliseconds and
    `evidenceBytes` in bytes of UTF-8. `protocolVersion` is the revision of MCP that the call was made in. Kinds:
    "run_started", "call_started", "call_finished", "tool_error", "mcp.fallback_used", "mcp.no_healthy_tool",
    "mcp.primary_restored", "log", "run_finished", "journal_failed".
    """

    slot: str
    tool: str
    callId: int
    server: Server
    endpoint: str
    fallback: str
    outcome: Outcome
    latencyMs: float
    evidenceBytes: int
    protocolVersion: str
    error: str
    message: str


class Usage(TypedDict):
    """What was used: calls that were put to servers, failures among them, bytes of evidence, milliseconds."""

    toolCalls: int
    failures: int
    evidenceBytes: int
    latencyMs: float


class SlotUsage(Usage):
    """The same for a slot, and for each of its tools."""

    tools: dict[str, Usage]


class _LedgerBase(Usage):
    runId: str
    slots: dict[str, SlotUsage]


class Ledger(_LedgerBase, total=False):
    """The same for a run, and for each of its slots; `journalError` when its journal could not be written."""

    journalError: str


class JournalFault(TypedDict):
    """Where a journal no longer holds: the number of the line, 1 is the first, and what is wrong with it."""

    line: int
    what: str


class _VerificationBase(TypedDict):
    events: int
    missing: int
    ok: bool
    head: str


class Verification(_VerificationBase, total=False):
    """What came of checking a journal; see `verify_journal`. `fault` is there when `ok` is false."""

    fault: JournalFault


class _HealthBase(TypedDict):
    server: Server
    endpoint: str
    state: Literal["unused", "healthy", "dead"]


class ServerHealth(_HealthBase, total=False):
    """What verifi knows of a server: since when, and why it is taken for dead."""

    since: str
    reason: str
    protocolVersion: str
