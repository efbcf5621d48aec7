"""`make demo-python`: the sweep on two servers of which the first one is killed half way.

    python demo.py PROGRAM...   PROGRAM has the demo's servers: it says where they are as a line of JSON, kills the
                                first one when it is told to, and ends with its input
"""

import asyncio
import json
import subprocess
import sys

import verifi
from sweep import Output, show, sweep, sweep_async

WITH_SECRET = ("cat target.conf", "openssl base64 -A -in target.conf")


class Servers:
    """The demo's servers, as a process."""

    def __init__(self, *program: str) -> None:
        self.process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        places = json.loads(self.answer())
        self.primary: str = places["primary"]
        self.fallback: str = places["fallback"]
        self.secret: str = places["secret"]

    def answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def kill_primary(self) -> None:
        assert self.process.stdin is not None
        print("kill", file=self.process.stdin, flush=True)
        self.answer()

    def end(self) -> None:
        self.process.communicate()


def demo(servers: Servers) -> None:
    slot = {"endpoint": servers.primary, "fallback": servers.fallback}
    with verifi.Run({"runId": "sweep-1", "slotFills": {"kali": slot}}, secrets=[servers.secret]) as run:
        print(f"run {run.id} on kali: {servers.primary}, else {servers.fallback}")
        outputs = sweep(run)
        outputs += sweep(run, WITH_SECRET)
        show(outputs)
        print("\nthe first server is killed; what follows is awaited, all at once")
        servers.kill_primary()
        awaited = asyncio.run(sweep_async(run))
        show(awaited)
    check(run, servers, outputs + awaited)


def check(run: verifi.Run, servers: Servers, outputs: list[Output]) -> None:
    """The demo is a check, too."""
    events, ledger = run.events(), run.ledger()
    failovers = [event for event in events if event["kind"] == "mcp.fallback_used"]
    attempts = [event for event in events if event["kind"] == "call_finished"]
    print(f"\n{ledger['toolCalls']} calls, {ledger['failures']} failures, {ledger['evidenceBytes']} bytes of evidence")
    for event in failovers:
        print(f"failover: {event['endpoint']} -> {event['fallback']}: {event['error']}")
    shown = json.dumps([outputs, events])
    assert len(failovers) == 1, "the failover was not announced once"
    assert ledger["toolCalls"] == len(attempts), "the ledger does not add up"
    assert "[REDACTED]" in shown and servers.secret not in shown, "the secret was not scrubbed"
    assert any(output.ok for output in outputs[-5:]), "the fallback did not answer"


def main(*program: str) -> None:
    servers = Servers(*program)
    try:
        demo(servers)
    finally:
        servers.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
