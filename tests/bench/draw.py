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

LESS, MORE = "less is better", "more is better"
# Work, figure, what a unit of it is, and the title.
PANELS = [
    ("small", "median", 1, f"small call, client and server on one core: µs, {LESS}"),
    ("at64", "rate", 1, f"64 calls at once: calls/s, {MORE}"),
    ("scan16", "speed", 1, f"16 MiB of output, 20 secrets: MB/s, {MORE}"),
    ("scan16", "peak", 1, f"the same: peak memory, MiB, {LESS}"),
    ("waiting", "cpuOfTurn", 1, f"1 000 calls that wait 3 s: CPU, s, {LESS}"),
    ("start", "median", 1e3, f"process start to first answer: ms, {LESS}"),
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
    axes.set_xscale("log")
    axes.barh([results["names"][client] for client in drawn], values, color=[colour(client) for client in drawn])
    for at, value in enumerate(values):
        axes.annotate(short(value), (value, at), xytext=(3, 0), textcoords="offset points", va="center", fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(min(values, default=1) / 2, max(values, default=1) * 4)
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_xticks([])
    axes.minorticks_off()
    axes.spines["bottom"].set_visible(False)


def curve(axes, title, prefix, values, figure, results):
    """A line a client over what grows."""
    for client, of_line in LINES.items():
        points = [results["figures"][f"{prefix}{value}"].get(client, {}).get(figure) for value in values]
        known = [(value, point) for value, point in zip(values, points) if point is not None]
        if known:
            axes.plot(*zip(*known), marker="o", color=of_line, label=results["names"][client])
    axes.set_title(title, fontsize=10, loc="left")
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
    curve(rate, "calls/s", "load", results["widths"], "rate", results)
    curve(memory, "peak memory, MiB", "load", results["widths"], "peak", results)
    curve(speed, "16 MiB of output, MB/s", "secrets", results["secrets"], "speed", results)
    for axes, grows in ((rate, "calls at once"), (memory, "calls at once"), (speed, "secrets")):
        axes.set_xlabel(grows, fontsize=8)
        plain(axes)
    for axes in (rate, speed):
        axes.set_ylim(0, max(axes.dataLim.y1, 1) * 1.1)
    memory.set_yscale("log")
    memory.legend(fontsize=8, frameon=False)
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
