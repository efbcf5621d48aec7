"""Threads, and what they may do while one of them waits."""

import gc
import subprocess
import sys
import threading
import time

import pytest

import verifi


def ticks_during(work):
    """How many of its 10 ms ticks a thread keeps while another one works: the share."""
    done, started, kept = threading.Event(), threading.Event(), [0]

    def tick():
        started.set()
        while not done.wait(0.01):
            kept[0] += 1

    ticker = threading.Thread(target=tick)
    ticker.start()
    started.wait()
    begin = time.monotonic()
    work()
    took = time.monotonic() - begin
    done.set()
    ticker.join()
    return kept[0] / (took / 0.0101)


def best_of_three(work):
    """The machine may be busy with something else, once."""
    shares = []
    while len(shares) < 3 and max(shares, default=0) < 0.9:
        shares.append(ticks_during(work))
    return max(shares)


# Rule 7.3.
@pytest.mark.parametrize("place", ["main thread", "another thread"])
def test_a_call_that_waits_leaves_the_interpreter_to_others(kali, place):
    def call():
        assert kali.call("slow", {"ms": 3000}).ok

    def elsewhere():
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()

    work = call if place == "main thread" else elsewhere
    assert best_of_three(work) >= 0.9


# Rules 3.11, 7.3.
def test_collecting_a_run_leaves_the_interpreter_to_others(serve):
    server = serve({"sessions": True, "rules": [{"on": {"method": "DELETE"}, "do": ["hang"]}]})
    runs = [verifi.Run(server.manifest()) for _ in range(3)]
    assert all(run.mcp("kali").call("echo").ok for run in runs)

    def collect():
        runs.pop()
        gc.collect()

    assert best_of_three(collect) >= 0.9


# Rules 1.3, 3.4, 7.3.
def test_threads_share_a_slot_and_get_their_own_answers(kali, server):
    wrong = []

    def work(name):
        for n in range(100):
            text = f"{name}-{n}"
            if kali.call("echo", {"text": text}).text != text:
                wrong.append(text)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(server.requests("initialize")) == 1


RACE = """
import json, logging, sys, threading
barrier = threading.Barrier(8)
oks = []
def work():
    barrier.wait()
    import verifi
    with verifi.Run(json.loads(sys.argv[1])) as run:
        verifi.log_events(run, logging.getLogger("race"))
        result = run.mcp("kali").call("progress", {"n": 2}, on_progress=lambda p: logging.getLogger("x").debug(p))
        oks.append(result.ok)
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(oks.count(True))
"""


def race(server, times):
    import json

    for _ in range(times):
        command = [sys.executable, "-c", RACE, json.dumps(server.manifest())]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "8\n", "")


# Rule 7.3.
def test_first_imports_and_first_runs_at_once(server):
    race(server, 3)


# Rule 7.3.
@pytest.mark.slow
def test_first_imports_and_first_runs_at_once_a_hundred_times(server):
    race(server, 100)
