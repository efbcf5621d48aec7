"""Forked and spawned children, and servers that fork their workers."""

import asyncio
import json
import multiprocessing
import os
import subprocess
import sys
import threading

import pytest

import verifi

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")


def in_child(work):
    """The status of a forked child that does the work and leaves by the interpreter's front door, as far as can be."""
    process = os.fork()
    if process == 0:
        status = 1
        try:
            status = 0 if work() else 2
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


# Rules 1.3, 4.2, 7.3.
def test_a_forked_child_has_connections_and_books_of_its_own(kali, run, server):
    kali.call("echo")
    before = run.ledger()

    def work():
        return kali.call("echo", {"text": "child"}).text == "child" and run.ledger()["toolCalls"] == 1

    assert [in_child(work) for _ in range(3)] == [0, 0, 0]
    assert run.ledger() == before
    assert kali.call("echo", {"text": "parent"}).text == "parent"
    assert len(server.requests("initialize")) == 4


# Rule 7.3.
def test_a_fork_while_others_call_and_read(kali, run):
    stop = threading.Event()

    def work():
        while not stop.is_set():
            kali.call("echo")

    threads = [threading.Thread(target=work) for _ in range(4)]
    run.subscribe(lambda event: None)
    stream = run.stream()
    for thread in threads:
        thread.start()
    try:

        def child():
            ended = next(stream, None) is None
            stream.close()
            return ended and kali.call("echo").ok

        assert [in_child(child) for _ in range(10)] == [0] * 10
    finally:
        stop.set()
        for thread in threads:
            thread.join()


# Rule 7.3.
@pytest.mark.parametrize("place", ["in the loop", "beside it"])
def test_a_fork_while_calls_are_awaited(kali, place):
    async def work(stop):
        while not stop.is_set():
            assert (await kali.call_async("echo")).ok

    async def many():
        return await asyncio.gather(*(kali.call_async("echo", {"text": str(n)}) for n in range(8)))

    def child():
        return [result.text for result in asyncio.run(many())] == list("01234567")

    async def main():
        stop = threading.Event()
        tasks = [asyncio.ensure_future(work(stop)) for _ in range(16)]
        statuses = []
        for _ in range(10):
            await kali.call_async("echo")
            statuses.append(in_child(child) if place == "in the loop" else await asyncio.to_thread(in_child, child))
        stop.set()
        await asyncio.gather(*tasks)
        return statuses

    assert asyncio.run(main()) == [0] * 10


# Rule 7.3.
def test_a_forked_child_leaves_silently_and_its_parent_is_not_disturbed(program):
    process = program("""
import os, threading
kali.call("echo")
threading.Thread(target=lambda: kali.call("slow", {"ms": 20_000}), daemon=True).start()
run.subscribe(lambda event: None)
child = os.fork()
if child == 0:
    print("child", kali.call("echo").ok, flush=True)
    sys.exit(3)
print("parent", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), kali.call("echo").ok, flush=True)
""")
    out, err = process.communicate(timeout=20)
    assert (out, process.returncode) == ("child True\nparent 3 True\n", 0)
    # From Python 3.12 on, forking with threads warns in any case.
    assert not [line for line in err.splitlines() if "fork" not in line]


# Rules 2.6, 7.3.
def test_ctrl_c_in_a_child_that_was_forked_by_a_thread(program):
    process = program("""
import os, signal, threading, time
def fork():
    child = os.fork()
    if child == 0:
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        begin = time.monotonic()
        try:
            kali.call("slow", {"ms": 20_000})
        except KeyboardInterrupt:
            os._exit(9 if time.monotonic() - begin < 1 else 8)
        os._exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
kali.call("echo")
thread = threading.Thread(target=fork)
thread.start()
thread.join()
""")
    assert process.communicate(timeout=20)[0] == "9\n"


def work(manifest, text):
    with verifi.Run(manifest) as run:
        return run.mcp("kali").call("echo", {"text": text})


# Rules 2.2, 7.3.
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(server, kali, method):
    assert kali.call("echo").ok
    with multiprocessing.get_context(method).Pool(2) as pool:
        results = pool.starmap(work, [(server.manifest(), str(n)) for n in range(6)])
    assert [result.text for result in results] == list("012345")
    assert kali.call("echo").ok


PREFORK = """
import json, os, socket, sys, verifi
# As uWSGI and gunicorn with preload do: the run is opened, and used, before the workers are forked.
run = verifi.Run(json.loads(sys.argv[1]))
kali = run.mcp("kali")
assert kali.call("echo").ok
listener = socket.create_server(("127.0.0.1", 0), backlog=64)
workers = []
for _ in range(3):
    worker = os.fork()
    if worker == 0:
        for _ in range(5):
            connection, _ = listener.accept()
            with connection:
                text = connection.recv(100).decode()
                connection.sendall(kali.call("echo", {"text": text}).text.encode())
        sys.exit(0)
    workers.append(worker)
print(listener.getsockname()[1], flush=True)
print([os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1]) for worker in workers], kali.call("echo").ok)
"""


# Rule 7.3.
def test_a_prefork_server(server):
    import socket

    command = [sys.executable, "-W", "ignore", "-c", PREFORK, json.dumps(server.manifest())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        port = int(process.stdout.readline())
        for n in range(15):
            with socket.create_connection(("127.0.0.1", port)) as connection:
                connection.sendall(str(n).encode())
                assert connection.recv(100).decode() == str(n)
        out, err = process.communicate(timeout=20)
    assert (out, err, process.returncode) == ("[0, 0, 0] True\n", "", 0)
