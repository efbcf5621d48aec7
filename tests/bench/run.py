"""Measures verifi beside the bare wire and beside other clients: `run.py [--effort quick] [--clients A,B]`.

What is measured stands in works.py, what it should come to in targets.json. All of it goes to tests/bench/results, where
the README shows it, what is less to target/bench/results.
"""

import argparse
import json
import os
import platform
import sys
import time

import clients
import measure
import table
import works


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--effort", choices=["full", "quick"], default="full")
    parser.add_argument("--clients", help="only those with one of these ids, separated by commas")
    return parser.parse_args()


def machine():
    model = next(line for line in open("/proc/cpuinfo") if line.startswith("model name")).split(":")[1].strip()
    return f"{model}, {len(os.sched_getaffinity(0))} cores, Linux {platform.release()}"


def chosen(all_clients, names):
    return [client for client in all_clients if not names or client.id in names.split(",")]


def gather(bench, bare, missing):
    """All that the table and the pictures show."""
    titles = {work.id: work.title for scene in works.scenes(bench.effort) for work in scene.works}
    return {
        "machine": machine(),
        "effort": bench.effort.name,
        "clients": [client.id for client in bench.clients],
        "names": {client.id: client.name for client in [*bench.clients, *bare]},
        "missing": missing,
        "works": titles | {"start": "from the start of a process to its first answer"},
        "widths": bench.effort.widths,
        "secrets": bench.effort.secrets,
        "figures": bench.results,
    }


def main():
    options = arguments()
    effort = works.EFFORTS[options.effort]
    clients.OUT.mkdir(parents=True, exist_ok=True)
    peers, missing = clients.peers()
    measured = chosen(clients.own("release", clients.TARGET / "c" / "prefix" / "lib") + peers, options.clients)
    bench, bare = measure.Bench(clients.TARGET / "release" / "bench-server", measured, effort, clients.OUT), clients.bare()
    begin = time.monotonic()
    measure.play_all(bench, bare)
    print(f"measured in {time.monotonic() - begin:.0f} s", file=sys.stderr)
    results = gather(bench, bare, missing)
    whole = effort.name == "full" and not options.clients
    folder = clients.HERE / "results" if whole else clients.OUT / "results"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "figures.json").write_text(json.dumps(results, indent=1) + "\n")
    (folder / "README.md").write_text(table.markdown(results))
    print(table.markdown(results))
    clients.draw(folder)


if __name__ == "__main__":
    main()
