"""Ctrl-C and other signals while the main thread waits."""

import resource
import signal
import threading
import time
from pathlib import Path

import pytest

import verifi

CALL = """
print("ready", flush=True)
try:
    kali.call("slow", {"ms": 20_000})
except KeyboardInterrupt:
    ledger = run.ledger()
    print(ledger["toolCalls"], run.events()[-1]["outcome"], flush=True)
    raise SystemExit(7)
"""


def interrupt(program, server, times):
    for n in range(times):
        process = program(CALL)
        server.waits_for(request={"tool": "slow"}, count=n + 1)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        line = process.stdout.readline()
        took = time.monotonic() - begin
        out, err = process.communicate(timeout=20)
        assert (line, out, err, process.returncode) == ("ready\n", "1 cancelled\n", "", 7) or line == "1 cancelled\n"
        assert took < 0.5
    server.waits_for(request={"rpc": "notifications/cancelled"}, count=times)


# Rules 2.1, 2.6, 4.1, 7.3.
def test_ctrl_c_ends_a_call_which_is_metered_and_the_server_is_told(program, server):
    interrupt(program, server, 3)


# Rules 2.6, 7.3.
@pytest.mark.slow
def test_ctrl_c_ends_a_call_a_hundred_times(program, server):
    interrupt(program, server, 100)


# Rules 2.6, 7.3.
@pytest.mark.parametrize(
    "wait", ['kali.call("echo")', "kali.list_tools()", "next(run.stream())"], ids=["connect", "list", "stream"]
)
def test_ctrl_c_ends_every_wait(program, serve, wait):
    full = serve({"listen": "full"})
    process = program(f"""
manifest = {{"runId": "r", "slotFills": {{"kali": {full.url!r}}}}}
run = verifi.Run(manifest)
kali = run.mcp("kali")
print("ready", flush=True)
try:
    {wait}
except KeyboardInterrupt:
    print("interrupted", flush=True)
""")
    assert process.stdout.readline() == "ready\n"
    deadline = time.monotonic() + 10
    while "S (sleeping)" not in Path(f"/proc/{process.pid}/status").read_text():
        assert time.monotonic() < deadline
    time.sleep(0.05)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    assert time.monotonic() - begin < 0.4
    assert process.communicate(timeout=10)[1] == ""


# Rules 2.6, 7.3.
def test_a_handler_that_raises_ends_the_call_with_what_it_raised(kali):
    class Late(Exception):
        pass

    def handler(number, frame):
        raise Late

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(Late):
            kali.call("slow", {"ms": 20_000})
    finally:
        signal.signal(signal.SIGALRM, before)


# Rule 7.3.
def test_a_handler_that_returns_leaves_the_call_alone(kali):
    seen = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: seen.append(time.monotonic()))
    try:
        begin = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        assert kali.call("slow", {"ms": 600}).ok
        assert [at for at in seen if at - begin < 0.4]
    finally:
        signal.signal(signal.SIGALRM, before)


# Rule 7.3.
def test_waiting_costs_no_processor_time(kali):
    before = resource.getrusage(resource.RUSAGE_SELF)
    assert kali.call("slow", {"ms": 2000}).ok
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime) < 0.05


# Rules 2.6, 7.3.
def test_a_signal_that_another_thread_gets_is_seen_all_the_same(kali):
    """Which thread the system interrupts is its own choice."""

    class Seen(Exception):
        pass

    def handler(number, frame):
        raise Seen

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        timer = threading.Timer(0.1, lambda: signal.pthread_kill(threading.get_ident(), signal.SIGUSR1))
        timer.start()
        begin = time.monotonic()
        with pytest.raises(Seen):
            kali.call("slow", {"ms": 20_000})
        assert time.monotonic() - begin < 0.5
        timer.join()
    finally:
        signal.signal(signal.SIGUSR1, before)


# Rule 2.1.
def test_a_call_after_an_interrupted_one_works(kali, server):
    timer = threading.Timer(0.1, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        kali.call("slow", {"ms": 20_000})
    timer.join()
    assert kali.call("echo", {"text": "still here"}).text == "still here"
    assert isinstance(kali, verifi.Slot)
