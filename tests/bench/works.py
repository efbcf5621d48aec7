"""What the clients have to do."""

from dataclasses import dataclass, field

ALL = "all cores"
ONE = "one core"
EACH = "a core each"


@dataclass(frozen=True)
class Effort:
    """How much of it."""

    name: str
    rounds: int
    # How long a turn is, roughly.
    seconds: float
    # The size of a large output; of the largest, a sixteenth.
    text: int = 1 << 20
    # What the slow tool takes.
    wait_ms: int = 3000
    many: int = 1000
    widths: tuple = (1, 8, 64, 512, 4096)
    secrets: tuple = (1, 20, 1000, 10000)


EFFORTS = {
    "full": Effort("full", rounds=5, seconds=0.3),
    "quick": Effort("quick", rounds=1, seconds=0.1, wait_ms=500),
    "smoke": Effort("smoke", 1, 0.02, text=1 << 16, wait_ms=200, many=100, widths=(1, 8), secrets=(1, 20)),
}


@dataclass(frozen=True)
class Work:
    """A tool that is called again and again, so many calls at once."""

    id: str
    title: str
    tool: str
    width: int = 1
    # Times the size of a large output: what the tool's text has.
    size: int = 0


@dataclass(frozen=True)
class Scene:
    """Works that are done by the same processes, in turn."""

    works: list[Work]
    cores: str = ALL
    secrets: int = 0
    # Rounds less than the effort has, at the most.
    rounds: int = 99
    # Nothing is done before: what it costs the first time counts.
    cold: bool = False
    # Ids of the clients; without any all.
    clients: tuple = field(default=())


def small():
    return Work("small", "small calls, one core", "small")


def scenes(effort):
    """All that is measured, but the start of a process."""
    many = f"{effort.many:_}".replace("_", " ")
    wait = effort.wait_ms / 1000
    return [
        Scene([small(), Work("events", "small calls over SSE, one core", "events")], ONE),
        Scene([Work("apart", "small calls, a core each", "small")], EACH),
        Scene([Work("at64", "64 calls at once", "small", 64)]),
        Scene([Work("many", f"{many} calls at once", "small", effort.many)], rounds=3),
        Scene([Work("waiting", f"{many} calls that wait {wait:g} s", "slow", effort.many)], rounds=1, cold=True),
        Scene([Work("scan", "1 MiB of output, 20 secrets", "scan", size=1)], secrets=20),
        Scene([Work("scan16", "16 MiB of output, 20 secrets", "scan16", size=16)], secrets=20, rounds=3),
    ]


def load(effort):
    """Cost against load, and against the number of secrets."""
    loaded = ("floor", "rust", "rust-awaited")
    return [
        Scene([Work(f"load{width}", f"{width} at once", "small", width)], rounds=3, clients=loaded)
        for width in effort.widths
    ] + [
        Scene([Work(f"secrets{count}", f"{count} secrets", "scan16", size=16)], ALL, count, 3, clients=("rust",))
        for count in effort.secrets
    ]
