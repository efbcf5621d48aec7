"""The interpreter ends while something is under way: quickly, and without a word."""

import time

import pytest

WAYS = {
    "a daemon thread in a call": """
import threading
threading.Thread(target=lambda: kali.call("slow", {"ms": 20_000}), daemon=True).start()
""",
    "a task in a call": """
import asyncio
async def main():
    asyncio.ensure_future(kali.call_async("slow", {"ms": 20_000}))
    await asyncio.sleep(0.02)
asyncio.run(main())
""",
    "an event loop in a daemon thread": """
import asyncio, threading
thread = threading.Thread(target=lambda: asyncio.run(kali.call_async("slow", {"ms": 20_000})), daemon=True)
thread.start()
""",
    "threads that call and read without end": """
import threading
def work():
    while kali.call("echo").ok: pass
def read():
    for event in run.stream(): event
for target in (work, work, read, read):
    threading.Thread(target=target, daemon=True).start()
run.subscribe(lambda event: None)
for _ in range(50): kali.call("echo")
""",
    "loops that await without end": """
import asyncio, threading
async def work():
    while (await kali.call_async("echo")).ok: pass
async def many():
    await asyncio.gather(*(work() for _ in range(16)))
for _ in range(2):
    threading.Thread(target=lambda: asyncio.run(many()), daemon=True).start()
for _ in range(50): kali.call("echo")
""",
    "a subscriber that is busy": """
import time
run.subscribe(lambda event: time.sleep(0.05))
for _ in range(3): kali.call("echo")
""",
    "progress and events that call back": """
import threading
call = lambda: kali.call("progress", {"n": 1000, "interval": 5}, on_progress=lambda progress: None)
for _ in range(3): threading.Thread(target=call, daemon=True).start()
run.subscribe(lambda event: None)
kali.call("echo")
""",
    "a handler at exit that calls": """
import atexit
atexit.register(lambda: kali.call("echo"))
""",
    "an exception that nobody catches": "raise SystemExit(0)",
}


def leave(program, text, times):
    for _ in range(times):
        process = program(text + "\nprint('end', flush=True)" if "raise" not in text else "print('end')\n" + text)
        assert process.stdout.readline() == "end\n"
        begin = time.monotonic()
        out, err = process.communicate(timeout=20)
        assert (process.returncode, out, err) == (0, "", "")
        assert time.monotonic() - begin < 2.5


# Rules 2.1, 7.3.
@pytest.mark.parametrize("way", WAYS)
def test_the_exit_is_silent_and_quick(program, way):
    leave(program, WAYS[way], 2)


# Rules 2.1, 7.3.
@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_the_exit_is_silent_and_quick_a_hundred_times(program, way):
    leave(program, WAYS[way], 100)


# Rules 3.11, 4.3.
def test_a_run_that_is_left_open_is_closed_at_exit(program, server):
    process = program("kali.call('echo')")
    assert process.wait(10) == 0
    server.waits_for(request={"method": "DELETE"})
