"""Measures verifi beside the bare wire and beside other clients: `run.py [--effort quick] [--clients A,B]`.

What is measured stands in works.py, what it should come to in targets.json. With the effort `full` the results go to
tests/bench/results, where the README shows them; else to target/bench/results.
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
    parser.add_argument("--clients", help="only those whose name begins with one of these, separated by commas")
    return parser.parse_args()


def machine():
    model = next(line for line in open("/proc/cpuinfo") if line.startswith("model name")).split(":")[1].strip()
    return f"{model}, {len(os.sched_getaffinity(0))} cores, Linux {platform.release()}"


def chosen(all_clients, names):
    return [client for client in all_clients if not names or client.name.startswith(tuple(names.split(",")))]


def main():
    options = arguments()
    effort = works.EFFORTS[options.effort]
    clients.OUT.mkdir(parents=True, exist_ok=True)
    peers, missing = clients.peers()
    measured = chosen(clients.own("release", clients.TARGET / "c" / "prefix" / "lib") + peers, options.clients)
    program = clients.TARGET / "release" / "bench-server"
    bench = measure.Bench(program, measured, effort, clients.OUT)
    begin = time.monotonic()
    measure.play_all(bench, clients.bare())
    print(f"measured in {time.monotonic() - begin:.0f} s", file=sys.stderr)
    results = {
        "machine": machine(),
        "effort": effort.name,
        "clients": [client.name for client in measured],
        "missing": missing,
        "works": {work.id: work.title for scene in works.scenes(effort) for work in scene.works},
        "widths": effort.widths,
        "secrets": effort.secrets,
        "figures": bench.results,
    }
    folder = clients.HERE / "results" if effort.name == "full" else clients.OUT / "results"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "figures.json").write_text(json.dumps(results, indent=1) + "\n")
    text = table.markdown(results)
    (folder / "README.md").write_text(text)
    print(text)
    clients.draw(folder)


if __name__ == "__main__":
    sys.exit(main())
