"""`draw.py FOLDER`: draws the figures that are there, as clients.svg and load.svg beside them."""

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")

from matplotlib import pyplot  # noqa: E402

FLOOR, OURS, THEIRS = "#8a8f98", "#0b6e4f", "#c9a227"
OWN = ["rust", "rust-awaited", "c", "python", "python-async", "node"]
LINES = {"floor": FLOOR, "rust": OURS, "rust-awaited": "#4fb286"}

# Work, figure, what a unit of it is, and the title.
PANELS = [
    ("small", "median", 1, "small call, client and server on one core: µs"),
    ("at64", "rate", 1, "64 calls at once: calls/s"),
    ("scan16", "speed", 1, "16 MiB of output, 20 secrets: MB/s"),
    ("scan16", "peak", 1, "the same: peak memory, MiB"),
    ("waiting", "cpuOfTurn", 1, "1 000 calls that wait 3 s: CPU, s"),
    ("start", "median", 1e3, "process start to first answer: ms"),
]


def colour(client):
    return FLOOR if client == "floor" else OURS if client in OWN else THEIRS


def short(value):
    return f"{value:,.0f}".replace(",", " ") if value >= 100 else f"{value:.3g}"


def bars(axes, panel, results):
    """A bar a client on a logarithmic scale, the first one on top."""
    work, figure, unit, title = panel
    by_client = results["figures"][work]
    drawn = [c for c in results["clients"] if figure in by_client.get(c, {})]
    # The floor scrubs nothing.
    drawn = [client for client in drawn if figure != "speed" or client != "floor"]
    values = [by_client[client][figure] / unit for client in drawn]
    axes.barh([results["names"][client] for client in drawn], values, color=[colour(client) for client in drawn])
    for at, value in enumerate(values):
        axes.annotate(short(value), (value, at), xytext=(3, 0), textcoords="offset points", va="center", fontsize=8)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlim(min(values) / 2, max(values) * 4)
    axes.set_title(title, fontsize=10, loc="left")


def curve(axes, prefix, values, figure, clients, results):
    for client in clients:
        points = [results["figures"][f"{prefix}{value}"].get(client, {}).get(figure) for value in values]
        known = [(value, point) for value, point in zip(values, points) if point is not None]
        axes.plot(*zip(*known), marker="o", color=LINES[client], label=results["names"][client])
    axes.set_xscale("log")
    axes.set_xticks(values, [short(value) for value in values])
    axes.minorticks_off()


def plain(axes):
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)


def draw_clients(results, path):
    figure, all_axes = pyplot.subplots(3, 2, figsize=(11, 10.5), layout="constrained")
    for axes, panel in zip(all_axes.flat, PANELS):
        bars(axes, panel, results)
        plain(axes)
    save(figure, path)


def draw_load(results, path):
    figure, (rate, memory, speed) = pyplot.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
    clients = [client for client in LINES if client in results["names"]]
    curve(rate, "load", results["widths"], "rate", clients, results)
    rate.set_title("calls/s", fontsize=10, loc="left")
    rate.legend(fontsize=8, frameon=False)
    curve(memory, "load", results["widths"], "peak", clients, results)
    memory.set_title("peak memory, MiB", fontsize=10, loc="left")
    for axes in (rate, memory):
        axes.set_xlabel("calls at once", fontsize=8)
    curve(speed, "secrets", results["secrets"], "speed", ["rust"], results)
    speed.set_title("16 MiB of output, MB/s", fontsize=10, loc="left")
    speed.set_xlabel("secrets", fontsize=8)
    for axes in (rate, memory, speed):
        axes.set_ylim(bottom=0)
        plain(axes)
    save(figure, path)


def save(figure, path):
    # The same figures give the same file.
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def main():
    folder = Path(sys.argv[1])
    results = json.loads((folder / "figures.json").read_text())
    matplotlib.rcParams.update({"svg.hashsalt": "verifi", "svg.fonttype": "none", "font.family": "sans-serif"})
    draw_clients(results, folder / "clients.svg")
    draw_load(results, folder / "load.svg")


if __name__ == "__main__":
    main()
