"""`make demo-python`: the sweep on two servers of which the first one dies in the middle.

    python demo.py PROGRAM...   PROGRAM serves the demo's tools, says where as a line, and ends with its input
"""

import asyncio
import subprocess
import sys
from collections.abc import Sequence

import verifi
from sweep import show, sweep, sweep_async

SECRET = "sct-9f27c41be05d83aa"


class Server:
    """A server of the demo, as a process."""

    def __init__(self, program: Sequence[str]) -> None:
        self.process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.endpoint = self.process.stdout.readline().strip()

    def end(self) -> None:
        """As a crash would: its connections are cut."""
        if self.process.poll() is None:
            self.process.communicate()


def title(text: str) -> None:
    print(f"\n{text}")


def demo(primary: Server, fallback: Server) -> None:
    manifest = {
        "runId": "sweep-1",
        "slotFills": {"kali": {"endpoint": primary.endpoint, "fallback": fallback.endpoint}},
    }
    with verifi.Run(manifest, secrets=[SECRET]) as run:
        title(f"run {run.id} on kali: {primary.endpoint}, else {fallback.endpoint}")
        outputs = sweep(run)
        outputs += sweep(run, ["cat target.conf", "openssl base64 -A -in target.conf"])
        title("the first server goes away; what follows is awaited, all at once")
        primary.end()
        outputs += asyncio.run(sweep_async(run))
        show(outputs)
    events, ledger = run.events(), run.ledger()
    failovers = [event for event in events if event["kind"] == "mcp.fallback_used"]
    attempts = [event for event in events if event["kind"] == "call_finished"]
    title(f"{ledger['toolCalls']} calls, {ledger['failures']} failures, {ledger['evidenceBytes']} bytes of evidence")
    for event in failovers:
        print(f"failover: {event['endpoint']} -> {event['fallback']}: {event['error']}")
    # The demo is a check, too.
    assert len(failovers) == 1, "the failover was not announced once"
    assert ledger["toolCalls"] == len(attempts), "the ledger does not add up"
    assert "[REDACTED]" in str(outputs) and SECRET not in str((outputs, events)), "the secret was not scrubbed"
    assert any(output.ok for output in outputs[-5:]), "the fallback did not answer"


def main(*program: str) -> None:
    servers = [Server(program), Server(program)]
    try:
        demo(*servers)
    finally:
        for server in servers:
            server.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
