"""That the bench works: every kind of work with each of the project's own clients, a little of it, in debug builds.

The last line is `N passed, N failed`. Speed is not judged.
"""

import sys

import clients
import measure
import run
import table
import works

sys.path.insert(0, str(clients.ROOT / "tests" / "c"))

import tools  # noqa: E402

EFFORT = works.EFFORTS["smoke"]


def fault(work, figures):
    """What is wrong with the figures of a client, if anything."""
    if "failure" in figures:
        return figures["failure"]
    if not 0 < figures["median"] <= figures["p99"] or figures["rate"] <= 0:
        return f"these are no times: {figures}"
    if not 0 < figures["cpu"] < 10e6 or not 1 < figures["peak"] < 1000:
        return f"this is no process: {figures}"
    if work == "waiting" and figures["median"] < EFFORT.wait_ms * 1000:
        return f"it did not wait: {figures}"
    return None


def main():
    clients.OUT.mkdir(parents=True, exist_ok=True)
    library = clients.OUT / "lib"
    tools.link(library, "debug")
    own, bare = clients.own("debug", library), clients.bare()
    bench = measure.Bench(clients.TARGET / "debug" / "bench-server", own, EFFORT, clients.OUT)
    measure.play_all(bench, bare)
    passed, failed = 0, 0
    for work, by_client in bench.results.items():
        for client, figures in by_client.items():
            what = fault(work, figures)
            passed, failed = passed + (what is None), failed + (what is not None)
            if what is not None:
                print(f"{work}, {client} ... FAILED: {what}")
    page = table.markdown(run.gather(bench, bare, {"a peer": "nobody asked for it"}))
    missing = [client.name for client in own if f"| {client.name} |" not in page]
    passed, failed = passed + (not missing), failed + bool(missing)
    if missing:
        print(f"the table ... FAILED: it lacks {', '.join(missing)}")
    print(f"bench: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
