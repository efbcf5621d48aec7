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
MOST = 50_000
SMALL = 64
STARTS = 4


@dataclass
class Cell:
    """What a client needed for a work."""

    medians: list = field(default_factory=list)
    p99s: list = field(default_factory=list)
    rates: list = field(default_factory=list)
    cpus: list = field(default_factory=list)
    cpus_of_turns: list = field(default_factory=list)
    peak: float = 0
    failure: str = ""

    def add(self, said, cpu, peak):
        each = sorted(said["each"])
        self.medians.append(each[len(each) // 2] / 1e3)
        self.p99s.append(each[len(each) * 99 // 100] / 1e3)
        self.rates.append(len(each) / said["ns"] * 1e9)
        self.cpus.append(cpu / len(each) * 1e6)
        self.cpus_of_turns.append(cpu)
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
            "cpuOfTurn": statistics.median(self.cpus_of_turns),
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
        return self.folder / f"{client.id}.log"

    def play(self, scene):
        """Measures the works of a scene with each of its clients."""
        ours, theirs = self.cores[scene.cores]
        clients = [client for client in self.clients if not scene.clients or client.id in scene.clients]
        cells = {work.id: {client.id: Cell() for client in clients} for work in scene.works}
        with self.server(theirs) as server:
            place = Place(server.url, self.secrets(scene.secrets), ours)
            processes = [client.start(place, self.log(client)) for client in clients]
            try:
                for _ in range(min(self.effort.rounds, scene.rounds)):
                    for process in processes:
                        for work in scene.works:
                            self.round(process, work, scene, cells[work.id][process.client.id])
            finally:
                for process in processes:
                    process.end()
        for work in scene.works:
            size = work.size * self.effort.text
            self.results[work.id] = {id: cell.figures(size) for id, cell in cells[work.id].items()}

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
        count = work.width
        said = process.turn(work.tool, count, work.width, LIMIT)
        if cell.rates:
            rate = cell.rates[-1]
        else:
            # More and more, until it is warm and the start of threads no longer counts.
            while said["ns"] < self.effort.seconds * 0.5e9 and count < MOST:
                count = min(4 * count, MOST // work.width * work.width)
                said = process.turn(work.tool, count, work.width, LIMIT)
            rate = count / said["ns"] * 1e9
        return max(1, min(int(rate * self.effort.seconds), MOST) // work.width) * work.width

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
        clients = [*bare, *self.clients]
        starts = {client.id: Starts() for client in clients}
        ours, theirs = self.cores[works.ALL]
        with self.server(theirs) as server:
            place = Place(server.url, self.secrets(0), ours)
            for _ in range(STARTS * self.effort.rounds):
                for client in clients:
                    starts[client.id].one(client, place, self.log(client))
        self.results["start"] = {id: of_one.cell().figures(0) for id, of_one in starts.items()}


@dataclass
class Starts:
    """The starts of a client."""

    times: list = field(default_factory=list)
    cpu: float = 0
    peak: float = 0
    failure: str = ""

    def one(self, client, place, log):
        if self.failure:
            return
        begin = time.perf_counter_ns()
        process = client.start(place, log)
        try:
            process.turn("small", 1, 1, LIMIT)
            self.times.append(time.perf_counter_ns() - begin)
            self.cpu += process.cpu()
            self.peak = max(self.peak, process.peak())
        except Failure as failure:
            self.failure = str(failure)
        finally:
            process.end()

    def cell(self):
        cell = Cell(failure=self.failure)
        if self.times:
            cell.add({"ns": sum(self.times), "each": self.times}, self.cpu, self.peak)
        return cell


def play_all(bench, bare):
    """All scenes, and the starts. What is measured just now is told on the standard error."""
    for scene in [*works.scenes(bench.effort), *works.load(bench.effort)]:
        tell("; ".join(work.title for work in scene.works))
        bench.play(scene)
    tell("starts")
    bench.start(bare)


def tell(what):
    print(f"  {what}", file=sys.stderr, flush=True)
