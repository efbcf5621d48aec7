"""What the clients in Python have in common: they read what to do and say how it went. README.md has the lines."""

import json
import sys
import time


class Turn:
    """`TOOL COUNT WIDTH`, and how it goes."""

    def __init__(self, line):
        self.tool, count, width = line.split()
        self.count, self.width = int(count), int(width)
        self.each = []
        self.last = ""

    def calls(self, call):
        """The calls of one of those that are at work at once."""
        for _ in range(self.count // self.width):
            self.last = ""
            begin = time.perf_counter_ns()
            self.last = call(self.tool)
            self.each.append(time.perf_counter_ns() - begin)

    def on_threads(self, call):
        if self.width == 1:
            self.calls(call)
            return
        # Here, so that the start of a client that makes one call at a time does not pay for it.
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(self.width) as threads:
            for done in [threads.submit(self.calls, call) for _ in range(self.width)]:
                done.result()

    def tell(self, begin):
        took = time.perf_counter_ns() - begin
        redacted = self.last.count("[REDACTED]")
        said = {"ns": took, "bytes": len(self.last), "redacted": redacted, "each": self.each}
        print(json.dumps(said), flush=True)


def fail(error):
    print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)


def take(call):
    """Takes turns until the input ends; `call` makes a call of a tool, and gives its text."""
    for line in sys.stdin:
        turn, begin = Turn(line), time.perf_counter_ns()
        try:
            turn.on_threads(call)
        except Exception as error:
            fail(error)
        else:
            turn.tell(begin)


def place():
    """The last arguments of every client: the server's URL, and the file that has a secret on each line."""
    url, path = sys.argv[-2:]
    with open(path) as lines:
        return url, lines.read().splitlines()


def scrub(text, secrets):
    """What one writes where the client does not scrub."""
    for secret in secrets:
        text = text.replace(secret, "[REDACTED]")
    return text
