"""What was measured, as Markdown: beside the targets, then all of it."""

import json
from pathlib import Path

TARGETS = json.loads((Path(__file__).resolve().parent / "targets.json").read_text())
NONE = "–"


def number(value):
    """Three digits that count."""
    if value >= 100:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def duration(us):
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if us >= size:
            return f"{number(us / size)} {unit}"
    return f"{number(us)} µs"


SHOWN = {
    "median": duration,
    "p99": duration,
    "rate": lambda rate: f"{number(rate)}/s",
    "cpu": duration,
    "cpuOfTurn": lambda seconds: f"{number(seconds)} s",
    "peak": lambda mib: f"{number(mib)} MiB",
    "speed": lambda speed: f"{number(speed)} MB/s",
}


def row(cells):
    return f"| {' | '.join(cells)} |"


def header(cells):
    return [row(cells), row(["---"] * len(cells))]


def difference(figure, more):
    """In the unit of a target: milliseconds, MiB."""
    return f"{number(more / 1e3)} ms" if figure == "median" else f"{number(more)} MiB"


class Judgement:
    """A cell beside its target: what is shown, and whether the target is reached (`None`: it cannot be told)."""

    def __init__(self, results, client, column):
        self.figures, self.names = results["figures"], results["names"]
        self.client, self.column = client, TARGETS["columns"][column]
        self.target = TARGETS["targets"][client].get(column)
        self.value = self.figure(self.column["work"], client)
        self.reached, self.text = self.judge()

    def figure(self, work, client):
        return self.figures[work].get(client, {}).get(self.column["figure"])

    def judge(self):
        figure, target = self.column["figure"], self.target
        if self.value is None:
            return None, NONE
        shown = SHOWN[figure](self.value)
        if target is None:
            return None, shown
        base = target.get("times") or target.get("over")
        reference = base and self.figure(target.get("in", self.column["work"]), base)
        if base and reference is None:
            return None, f"{shown} (nothing to compare with)"
        if "times" in target:
            compared = self.value / reference
            shown += f", {number(compared)} ×"
        elif "over" in target:
            compared = self.value - reference
            shown += f", {difference(figure, compared)} more"
            compared /= 1e3 if figure == "median" else 1
        else:
            compared = self.value
        reached = compared <= target["most"] if "most" in target else compared >= target["least"]
        limit = f"≤ {target['most']}" if "most" in target else f"≥ {target['least']}"
        return reached, f"{shown} ({limit})" if reached else f"missed: {shown} ({limit})"


def judgements(results):
    """By client, then by column."""
    return {
        client: {column: Judgement(results, client, column) for column in TARGETS["columns"]}
        for client in TARGETS["targets"]
        if client in results["names"]
    }


def comparison(results):
    judged = judgements(results)
    cells = [cell for row_of in judged.values() for cell in row_of.values() if cell.reached is not None]
    lines = header(["", *(column["title"] for column in TARGETS["columns"].values())])
    for client, row_of in judged.items():
        lines.append(row([results["names"][client], *(cell.text for cell in row_of.values())]))
    reached = sum(cell.reached for cell in cells)
    return [f"{reached} of {len(cells)} targets are reached. In parentheses: the target.", "", *lines]


def ratio(work, figures, floor):
    """How many times the floor's time: of a call, or with several at once of all."""
    if not floor or "median" not in floor or work == "waiting":
        return NONE
    one = not work.startswith(("at", "many", "load"))
    return number(figures["median"] / floor["median"] if one else floor["rate"] / figures["rate"])


def of_work(work, results):
    """The table of a work, one row a client."""
    by_client = results["figures"][work]
    sized = any("speed" in figures for figures in by_client.values())
    more = ["speed"] if sized else ["cpuOfTurn"] if work == "waiting" else []
    titles = {"speed": "speed", "cpuOfTurn": "CPU, all"}
    lines = header(["client", "median", "p99", "calls/s", "CPU a call", *map(titles.get, more), "peak", "× floor"])
    failures = []
    for client, figures in by_client.items():
        name = results["names"][client]
        if "failure" in figures:
            failures.append(f"{name}: {figures['failure']}")
            continue
        shown = [SHOWN[figure](figures[figure]) for figure in ("median", "p99", "rate", "cpu", *more, "peak")]
        lines.append(row([name, *shown, ratio(work, figures, by_client.get("floor"))]))
    return lines + [line for failure in failures for line in ("", f"Left out: {failure}.")]


def against(prefix, title, values, figures, results):
    """One row a client, one column a value of what grows."""
    first = results["figures"][f"{prefix}{values[0]}"]
    lines = []
    for client in first:
        for figure in figures:
            cells = [results["figures"][f"{prefix}{value}"].get(client, {}).get(figure) for value in values]
            shown = [NONE if cell is None else SHOWN[figure](cell) for cell in cells]
            lines.append(row([results["names"][client], *shown]))
    return header([title, *(f"{value:,}".replace(",", " ") for value in values)]) + lines


def markdown(results):
    """The whole page."""
    lines = ["# What a call costs", "", f"Made by `make bench` ({results['effort']}) on {results['machine']}.", ""]
    lines += ["![Clients side by side](clients.svg)", "", "![Cost against load](load.svg)", ""]
    lines += [f"Not measured, {name}: {why}." for name, why in results["missing"].items()]
    lines += ["## Targets", "", *comparison(results)]
    for work, title in results["works"].items():
        lines += ["", f"## {title[0].upper()}{title[1:]}", "", *of_work(work, results)]
    lines += ["", "## Cost against load", "", "Calls at once: calls per second, then the peak of memory.", ""]
    lines += against("load", "at once", results["widths"], ("rate", "peak"), results)
    lines += ["", "Secrets of the run, scrubbed from 16 MiB of output.", ""]
    lines += against("secrets", "secrets", results["secrets"], ("speed", "peak"), results)
    return "\n".join(lines) + "\n"
