"""The one metered way from a security-scan harness to its tools.

A harness opens a `Run` from the manifest that the platform gave it, takes a slot and calls tools on it. A call never
raises: whatever happens comes back as a `ToolResult`, and every call that was put to a server is on the run's ledger
and timeline.
"""

from ._errors import JournalError, ListToolsError, ManifestError, OptionsError, SlotNotFilledError, VerifiError
from ._events import EventStream, Subscription, log_events
from ._journal import read_journal, verify_journal
from ._redaction import Redactor, collect_run_secrets, redact
from ._run import Run
from ._slot import Slot
from ._types import Event, Ledger, Outcome, Progress, Server, ServerHealth, SlotUsage, ToolDefinition, Usage, Verification
from ._verifi import SDK_VERSION, ToolResult
from ._verifi import VERSION as __version__

__all__ = [
    "SDK_VERSION",
    "Event",
    "EventStream",
    "JournalError",
    "Ledger",
    "ListToolsError",
    "ManifestError",
    "OptionsError",
    "Outcome",
    "Progress",
    "Redactor",
    "Run",
    "Server",
    "ServerHealth",
    "Slot",
    "SlotNotFilledError",
    "SlotUsage",
    "Subscription",
    "ToolDefinition",
    "ToolResult",
    "Usage",
    "VerifiError",
    "Verification",
    "__version__",
    "collect_run_secrets",
    "log_events",
    "read_journal",
    "redact",
    "verify_journal",
]
