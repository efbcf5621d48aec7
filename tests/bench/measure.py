"""Takes the clients through the works in turn, so that each sees the same machine."""

import os
import statistics
import sys
import time
from dataclasses import dataclass, field

import scan
import works
from processes import Failure, Place, Server

# Whoever takes longer for a turn is not asked again.
LIMIT = 60
# A turn has no more calls than this.
MOST = 20_000
SMALL = 64
STARTS = 4


@dataclass
class Cell:
    """What a client needed for a work."""

    medians: list = field(default_factory=list)
    p99s: list = field(default_factory=list)
    rates: list = field(default_factory=list)
    cpus: list = field(default_factory=list)
    whole_cpus: list = field(default_factory=list)
    peak: float = 0
    failure: str = ""

    def add(self, said, cpu, peak):
        each = sorted(said["each"])
        self.medians.append(each[len(each) // 2] / 1e3)
        self.p99s.append(each[len(each) * 99 // 100] / 1e3)
        self.rates.append(len(each) / said["ns"] * 1e9)
        self.cpus.append(cpu / len(each) * 1e6)
        self.whole_cpus.append(cpu)
        self.peak = max(self.peak, peak)

    def figures(self, size):
        """The medians of the rounds: microseconds, calls a second, seconds, MiB, and MB a second of text."""
        if self.failure or not self.medians:
            return {"failure": self.failure or "not measured"}
        median = statistics.median(self.medians)
        figures = {
            "median": median,
            "p99": statistics.median(self.p99s),
            "rate": statistics.median(self.rates),
            "cpu": statistics.median(self.cpus),
            "wholeCpu": statistics.median(self.whole_cpus),
            "peak": self.peak,
        }
        return {**figures, "speed": size / median} if size else figures


class Bench:
    """The server's program, the clients, and what they needed so far: by work, then by client."""

    def __init__(self, program, clients, effort, folder):
        self.program = program
        self.clients = clients
        self.effort = effort
        self.folder = folder
        self.results = {}
        self.text = scan.output(effort.text)
        self.place_of_text = folder / "scan.txt"
        self.place_of_text.write_text(self.text)
        cores = sorted(os.sched_getaffinity(0))
        self.cores = {
            works.ONE: ({cores[-1]}, {cores[-1]}),
            works.EACH: ({cores[0]}, {cores[-1]}),
            works.ALL: (set(cores), set(cores)),
        }

    def server(self, cores):
        return Server(self.program, self.place_of_text, self.effort.wait_ms, cores)

    def secrets(self, count):
        path = self.folder / f"secrets-{count}.txt"
        path.write_text("".join(f"{secret}\n" for secret in scan.secrets(count)))
        return path

    def log(self, client):
        return self.folder / (client.name.replace(" ", "-").replace(",", "") + ".log")

    def play(self, scene):
        """Measures the works of a scene with each of its clients."""
        ours, theirs = self.cores[scene.cores]
        clients = [client for client in self.clients if not scene.clients or client.name in scene.clients]
        cells = {work.id: {client.name: Cell() for client in clients} for work in scene.works}
        with self.server(theirs) as server:
            place = Place(server.url, self.secrets(scene.secrets), ours)
            processes = [client.start(place, self.log(client)) for client in clients]
            try:
                for _ in range(min(self.effort.rounds, scene.rounds)):
                    for process in processes:
                        for work in scene.works:
                            self.round(process, work, scene, cells[work.id][process.client.name])
            finally:
                for process in processes:
                    process.end()
        for work in scene.works:
            size = work.size * self.effort.text
            self.results[work.id] = {name: cell.figures(size) for name, cell in cells[work.id].items()}

    def round(self, process, work, scene, cell):
        if cell.failure:
            return
        try:
            count = work.width
            if not scene.cold:
                # Wakes what has slept while others had their turns: connections that were closed, code that is cold.
                count = self.count(process, work, cell)
            before = process.cpu()
            process.forget_peak()
            said = process.turn(work.tool, count, work.width, LIMIT)
            cell.add(said, process.cpu() - before, process.peak())
            if process.client.checked:
                self.check(said, work, scene)
        except Failure as failure:
            cell.failure = str(failure)

    def count(self, process, work, cell):
        """How many calls fill a turn, a multiple of those at once."""
        if not cell.rates:
            process.turn(work.tool, work.width, work.width, LIMIT)
        said = process.turn(work.tool, work.width, work.width, LIMIT)
        if not cell.rates and work.size == 0:
            rough = len(said["each"]) / said["ns"] * 1e9
            count = max(1, int(rough * self.effort.seconds / work.width)) * work.width
            said = process.turn(work.tool, min(count, MOST), work.width, LIMIT)
        rate = cell.rates[-1] if cell.rates else len(said["each"]) / said["ns"] * 1e9
        return max(2, min(int(rate * self.effort.seconds), MOST) // work.width) * work.width

    def check(self, said, work, scene):
        """That the text is the server's, and scrubbed."""
        secrets = scan.secrets(scan.PLANTED)[: scene.secrets] if work.size else []
        found = {secret: self.text.count(secret) * work.size for secret in secrets}
        gone = sum((len(secret) - len("[REDACTED]")) * times for secret, times in found.items())
        length = work.size * len(self.text) - gone if work.size else SMALL
        expected, got = (length, sum(found.values())), (said["bytes"], said["redacted"])
        if got != expected:
            raise Failure(f"the text has {got[0]} bytes and {got[1]} redactions, not {expected[0]} and {expected[1]}")

    def start(self, bare):
        """From the start of a process to its first answer; of `bare`, to its first line."""
        cells = {client.name: Cell() for client in [*bare, *self.clients]}
        ours, theirs = self.cores[works.ALL]
        with self.server(theirs) as server:
            place = Place(server.url, self.secrets(0), ours)
            for _ in range(STARTS * self.effort.rounds):
                for client in [*bare, *self.clients]:
                    self.start_once(client, place, cells[client.name])
        self.results["start"] = {name: cell.figures(0) for name, cell in cells.items()}

    def start_once(self, client, place, cell):
        if cell.failure:
            return
        begin = time.perf_counter_ns()
        process = client.start(place, self.log(client))
        try:
            process.turn("small", 1, 1, LIMIT)
            took = time.perf_counter_ns() - begin
            cell.add({"ns": took, "each": [took]}, process.cpu(), process.peak())
        except Failure as failure:
            cell.failure = str(failure)
        finally:
            process.end()


def play_all(bench, bare):
    """All scenes, and the starts. What is measured just now is told on the standard error."""
    for scene in [*works.scenes(bench.effort), *works.load(bench.effort)]:
        tell("; ".join(work.title for work in scene.works))
        bench.play(scene)
    tell("starts")
    bench.start(bare)


def tell(what):
    print(f"  {what}", file=sys.stderr, flush=True)
