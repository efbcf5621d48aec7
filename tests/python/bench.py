"""What a sequential call costs beside Rust's and beside the official client's, on one server, taken in turns since such
figures drift: `bench.py --official PYTHON [--check]`, PYTHON being one that has the package `mcp`. With `--check` it
fails when a limit is passed.

On a virtual machine it costs more to wake a core than to make a call, and which cores the system picks is chance: so
client and server are put on the same core, and on a core each.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACES = {"client and server on one core": ({0}, {0}), "a core each": ({0}, {1})}
TURNS = 9
CALLS = 400
# The official client takes milliseconds.
SLOWER = 10

# In microseconds more than Rust; as a share of the official client.
OVER_RUST = 25
OF_OFFICIAL = 0.1


def median(times):
    return statistics.median(times) * 1e6


def timed(call, count):
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return median(times)


def serve_turns(turn):
    """For each number on a line of the input, makes so many calls and prints their median in microseconds."""
    for line in sys.stdin:
        print(turn(int(line)), flush=True)


def main_thread(url):
    import verifi

    with verifi.Run({"runId": "bench", "slotFills": {"kali": url}}) as run:
        kali = run.mcp("kali")
        serve_turns(lambda count: timed(lambda: kali.call("any", {"n": 1}), count))


def other_thread(url):
    thread = threading.Thread(target=main_thread, args=(url,))
    thread.start()
    thread.join()


async def each(call, count):
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        await call()
        times.append(time.perf_counter() - begin)
    return median(times)


def awaited(url):
    import verifi

    async def main(count):
        return await each(lambda: kali.call_async("any", {"n": 1}), count)

    with verifi.Run({"runId": "bench", "slotFills": {"kali": url}}) as run:
        kali = run.mcp("kali")
        serve_turns(lambda count: asyncio.run(main(count)))


def official(url):
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    async def main(count):
        async with streamable_http_client(f"{url}/mcp") as streams, ClientSession(*streams[:2]) as session:
            await session.initialize()
            return await each(lambda: session.call_tool("any", {"n": 1}), count)

    serve_turns(lambda count: asyncio.run(main(max(1, count // SLOWER))))


class Client:
    """A process that makes calls in turns."""

    def __init__(self, *command):
        # The official client complains of a tool that is not on the list, each time.
        pipe, null = subprocess.PIPE, subprocess.DEVNULL
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=null, text=True)
        self.medians = []

    def turn(self):
        print(CALLS, file=self.process.stdin, flush=True)
        self.medians.append(float(self.process.stdout.readline()))

    def end(self):
        self.process.communicate()
        # The first turn warms up.
        return statistics.median(self.medians[1:])


def server():
    program = ROOT / "target/release/scripted-server"
    process = subprocess.Popen([program, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    print(json.dumps({"prebuilt": {"bytes": 64}}), file=process.stdin, flush=True)
    return process, json.loads(process.stdout.readline())["url"]


def measure(ours, theirs, python):
    """The medians by client, in microseconds."""
    os.sched_setaffinity(0, theirs)
    process, url = server()
    os.sched_setaffinity(0, ours)
    clients = {"Rust": Client(ROOT / "target/release/sequential", url)}
    for way, program in (("main_thread", sys.executable), ("other_thread", sys.executable), ("awaited", sys.executable)):
        clients[way] = Client(program, __file__, "--client", way, "--url", url)
    clients["official"] = Client(python, __file__, "--client", "official", "--url", url)
    for _ in range(TURNS + 1):
        for client in clients.values():
            client.turn()
    figures = {name: client.end() for name, client in clients.items()}
    process.communicate()
    return figures


def bench(python):
    holds = True
    for place, (ours, theirs) in PLACES.items():
        figures = measure(ours, theirs, python)
        print(f"Python {sys.version.split()[0]}, {place}: a sequential call, in microseconds")
        for name, figure in figures.items():
            more, share = figure - figures["Rust"], figure / figures["official"]
            print(f"  {name:13} {figure:8.1f}  {more:+8.1f} to Rust, {1 / share:6.1f} times less than the official client")
        for way in ("main_thread", "other_thread"):
            holds &= figures[way] - figures["Rust"] <= OVER_RUST and figures[way] / figures["official"] <= OF_OFFICIAL
    return holds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--official")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--client")
    parser.add_argument("--url")
    options = parser.parse_args()
    if options.client:
        globals()[options.client](options.url)
        return 0
    return 0 if bench(options.official) or not options.check else 1


if __name__ == "__main__":
    sys.exit(main())
