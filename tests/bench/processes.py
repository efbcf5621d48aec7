"""The processes of the bench: clients that are told what to do by line, the server, and what they cost."""

import json
import os
import select
import subprocess
import time
from pathlib import Path

# Found by the secrets' collection of a run, or by a client's search for a proxy: the bench has none.
ENVIRONMENT = {name: os.environ[name] for name in ("HOME", "LANG", "PATH") if name in os.environ}


class Failure(Exception):
    """A client could not do what it was told to."""


class Client:
    """What is measured: a command that reads a turn on each line and answers how it went."""

    def __init__(self, id, name, *command, env=None, checked=True):
        self.id = id
        self.name = name
        self.command = [str(part) for part in command]
        self.env = env or {}
        # Whether it looks at the text and scrubs it.
        self.checked = checked

    def start(self, place, log):
        return Process(self, place, log)


class Place:
    """Where a client finds its server, its secrets and its cores."""

    def __init__(self, url, secrets, cores):
        self.arguments = [url, str(secrets)]
        self.cores = cores


class Process:
    """A client at work."""

    def __init__(self, client, place, log):
        self.client = client
        self.log = log
        with log.open("w") as errors, pinned(place.cores):
            self.child = subprocess.Popen(
                [*client.command, *place.arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                bufsize=0,
                env={**ENVIRONMENT, **client.env},
            )
        # See clock_getcpuclockid(3): the clock of all threads of another process.
        self.clock = ~self.child.pid << 3 | 2

    def turn(self, tool, count, width, limit):
        """Tells it what to do and gives what it said."""
        try:
            self.child.stdin.write(f"{tool} {count} {width}\n".encode())
        except BrokenPipeError:
            raise Failure(self.last_words()) from None
        said = json.loads(self.line(time.monotonic() + limit, limit))
        if "error" in said:
            raise Failure(said["error"])
        return said

    def line(self, end, limit):
        parts = []
        while not parts or not parts[-1].endswith(b"\n"):
            ready, _, _ = select.select([self.child.stdout], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise Failure(f"takes more than {limit:.0f} s")
            part = self.child.stdout.read(1 << 20)
            if not part:
                raise Failure(self.last_words())
            parts.append(part)
        return b"".join(parts)

    def last_words(self):
        self.child.wait()
        lines = self.log.read_text(errors="replace").strip().splitlines()
        return f"ended with status {self.child.returncode}" + (f": {lines[-1]}" if lines else "")

    def cpu(self):
        """Seconds of CPU that it has used."""
        return time.clock_gettime(self.clock)

    def forget_peak(self):
        Path(f"/proc/{self.child.pid}/clear_refs").write_text("5")

    def peak(self):
        """The most memory that it has had since its peak was forgotten, in MiB."""
        status = Path(f"/proc/{self.child.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) / 1024

    def end(self):
        """Lets it end, or ends it."""
        self.child.stdin.close()
        try:
            self.child.wait(5)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        self.child.stdout.close()


class Server:
    """The server, on some cores."""

    def __init__(self, program, text, wait_ms, cores):
        with pinned(cores):
            self.child = subprocess.Popen(
                [program, text, str(wait_ms)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        self.url = self.child.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.communicate()


class pinned:
    """A process that is started herein stays on those cores, with all its threads."""

    def __init__(self, cores):
        self.cores = cores

    def __enter__(self):
        self.before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, self.cores)

    def __exit__(self, *_):
        os.sched_setaffinity(0, self.before)
