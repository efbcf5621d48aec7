"""Awaited calls: any number of loops, and cancelling."""

import asyncio
import gc
import subprocess
import sys
import threading
import time
import warnings
import weakref

import pytest

import verifi


# Rules 2.1, 7.3.
def test_many_calls_at_once_take_no_place_in_the_default_executor(serve):
    # 200 calls of 200 ms each. With the executor's few dozen threads they would take seconds.
    server = serve({"prebuilt": {"bytes": 10, "delayMs": 200}})

    async def main(kali):
        asyncio.get_running_loop().set_default_executor(Forbidden())
        begin = time.monotonic()
        results = await asyncio.gather(*(kali.call_async("wait") for _ in range(200)))
        return results, time.monotonic() - begin

    with verifi.Run(server.manifest()) as run:
        results, took = asyncio.run(main(run.mcp("kali")))
    assert all(result.ok for result in results)
    assert took < 1.0


class Forbidden(asyncio.base_events.concurrent.futures.ThreadPoolExecutor):
    def submit(self, *_, **__):
        raise AssertionError("the loop's executor was used")


# Rule 7.3.
def test_loops_one_after_the_other_and_in_different_threads(kali):
    async def one(n):
        result = await kali.call_async("echo", {"text": str(n)})
        return result.text

    assert [asyncio.run(one(n)) for n in range(5)] == list("01234")
    found = []
    threads = [threading.Thread(target=lambda n=n: found.append(asyncio.run(one(n)))) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == list("01234567")


# Rule 7.3.
def test_loops_at_once_with_many_calls_each_get_their_own_answers(kali):
    wrong = []

    async def work(name):
        for n in range(20):
            text = f"{name}-{n}"
            if (await kali.call_async("echo", {"text": text})).text != text:
                wrong.append(text)

    async def main(loop):
        await asyncio.gather(*(work(f"{loop}-{n}") for n in range(16)))

    threads = [threading.Thread(target=lambda n=n: asyncio.run(main(n))) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# Rule 7.3.
def test_two_loops_that_take_turns_in_a_thread(kali):
    loops = [asyncio.new_event_loop() for _ in range(2)]
    under_way = [loop.create_task(kali.call_async("slow", {"ms": 50})) for loop in loops]
    for n in range(10):
        loop = loops[n % 2]
        assert loop.run_until_complete(kali.call_async("echo", {"text": str(n)})).text == str(n)
    assert all(loop.run_until_complete(task).ok for loop, task in zip(loops, under_way))
    for loop in loops:
        loop.close()


# Rules 2.6, 4.1.
def test_cancelling_the_task_cancels_the_call(kali, server, run):
    async def main():
        await kali.call_async("echo")
        task = asyncio.create_task(kali.call_async("slow", {"ms": 20_000}))
        await asyncio.to_thread(server.waits_for, request={"tool": "slow"})
        begin = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - begin

    events = run.stream()
    took = asyncio.run(main())
    assert took < 0.2
    server.waits_for(request={"rpc": "notifications/cancelled"})
    failed = next(event for event in events if event["kind"] == "tool_error")
    assert failed["outcome"] == "cancelled"
    assert run.ledger()["toolCalls"] == 2


# Rule 2.6.
def test_wait_for_leaves_nothing_behind(kali, run, capfd, monkeypatch):
    reports = []
    monkeypatch.setattr(sys, "unraisablehook", reports.append)

    async def main():
        asyncio.get_running_loop().set_exception_handler(lambda _, context: reports.append(context))
        for _ in range(100):
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(kali.call_async("slow", {"ms": 20_000}), 0.005)
        gc.collect()
        return [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]

    assert asyncio.run(main()) == []
    run.close()
    gc.collect()
    assert reports == []
    assert capfd.readouterr() == ("", "")
    assert kali.call("echo").outcome == "rejected"


# Rule 2.6.
def test_a_loop_that_ends_with_a_call_under_way_is_silent(program):
    process = program("""
import asyncio, threading
async def main():
    asyncio.ensure_future(kali.call_async("slow", {"ms": 20_000}))
    await asyncio.sleep(0.05)
asyncio.run(main())
# A loop that is closed at the hardest: its tasks are not even cancelled.
loop = asyncio.new_event_loop()
task = loop.create_task(kali.call_async("slow", {"ms": 100}))
loop.run_until_complete(asyncio.sleep(0.02))
loop.close()
task._log_destroy_pending = False
del task
kali.call("slow", {"ms": 200})
print("done")
""")
    assert process.communicate(timeout=20) == ("done\n", "")
    assert process.returncode == 0


class Gone:
    """Tells when the last of some objects is gone."""

    def __init__(self, *objects):
        self.event = threading.Event()
        self.left = [weakref.ref(each, self.forget) for each in objects]

    def forget(self, reference):
        self.left.remove(reference)
        if not self.left:
            self.event.set()

    def within(self, seconds):
        deadline = time.monotonic() + seconds
        gc.collect()
        # What a thread of verifi's has in its hands is let go in a moment.
        while not self.event.wait(0.01) and time.monotonic() < deadline:
            gc.collect()
        return not self.left


# Rule 7.3.
@pytest.mark.parametrize("end", ["is closed", "is closed first", "is dropped"])
def test_a_loop_that_ends_while_results_wait_for_it_is_silent_and_let_go(kali, run, capfd, monkeypatch, end):
    reports = []
    monkeypatch.setattr(sys, "unraisablehook", reports.append)

    def leave():
        loop = asyncio.new_event_loop()
        tasks = [loop.create_task(kali.call_async("slow", {"ms": 50})) for _ in range(20)]
        for task in tasks:
            task._log_destroy_pending = False
        events = run.stream()
        loop.run_until_complete(asyncio.sleep(0))
        if end == "is closed first":
            loop.close()
        # The loop does not run while its calls end.
        kinds = (event["kind"] for event in events)
        assert sum(1 for _ in zip(range(20), (kind for kind in kinds if kind == "call_finished"))) == 20
        if end == "is closed":
            loop.close()
        return Gone(loop, *tasks)

    with warnings.catch_warnings():
        # asyncio's own, of a loop that nobody closed.
        warnings.simplefilter("ignore", ResourceWarning)
        assert leave().within(10)
    assert kali.call("echo").ok
    assert reports == []
    assert capfd.readouterr() == ("", "")


class Interrupted(asyncio.SelectorEventLoop):
    """Raises once, as a signal's handler may, when something is scheduled of which `where` is true."""

    def where(self, callback):
        return False

    def call_soon(self, callback, *args, context=None):
        if self.where(callback):
            del self.where
            raise KeyboardInterrupt
        return super().call_soon(callback, *args, context=context)


def is_drain(callback):
    return getattr(callback, "__name__", "") == "drain"


# Rules 2.1, 7.3.
@pytest.mark.parametrize("where", [is_drain, lambda callback: not is_drain(callback)], ids=["drain", "a task"])
def test_a_signal_while_results_are_set_costs_no_other_result(kali, where):
    loop = Interrupted()
    slow, first = [loop.create_task(kali.call_async("slow", {"ms": ms})) for ms in (500, 50)]
    first._log_destroy_pending = False
    loop.run_until_complete(asyncio.sleep(0))
    loop.where = where
    with pytest.raises(KeyboardInterrupt):
        loop.run_until_complete(first)
    # As a notebook goes on.
    for _ in range(3):
        assert loop.run_until_complete(asyncio.wait_for(kali.call_async("echo"), 5)).ok
    assert loop.run_until_complete(asyncio.wait_for(slow, 5)).ok
    loop.close()


# Rules 2.1, 7.3.
def test_a_call_without_room_on_the_stack_ends_all_the_same(program):
    process = program("""
import asyncio, sys
run.close()
sys.setrecursionlimit(300)
async def deep(more):
    return await (deep(more - 1) if more else kali.call_async("echo"))
async def main():
    for depth in range(200, 300):
        done, waiting = await asyncio.wait([asyncio.ensure_future(deep(depth))], timeout=5)
        assert not waiting, depth
        assert all(type(task.exception()) is RecursionError or task.result().outcome == "rejected" for task in done)
asyncio.run(main())
print("done")
""")
    assert process.communicate(timeout=60) == ("done\n", "")


# Rule 7.3.
def test_a_loop_is_let_go_when_its_calls_are_done(kali):
    async def main():
        await asyncio.gather(*(kali.call_async("echo") for _ in range(8)), kali.list_tools_async())
        return Gone(asyncio.get_running_loop())

    assert asyncio.run(main()).within(10)


# Rules 2.1, 7.3.
def test_a_call_that_is_never_awaited_is_never_made(kali, server):
    call = kali.call_async("echo")
    call.close()
    assert kali.call("echo").ok
    assert len(server.requests("tools/call")) == 1


# Rules 3.10, 7.3.
def test_lists_are_awaited_and_raise(kali, run):
    async def main():
        names, tools = await asyncio.gather(kali.list_tools_async(), kali.tool_definitions_async())
        await run.close_async()
        with pytest.raises(verifi.ListToolsError):
            await kali.list_tools_async()
        return names, tools

    names, tools = asyncio.run(main())
    assert names == [tool["name"] for tool in tools]


# Rules 3.11, 7.3.
def test_async_with_closes_without_holding_up_the_loop(serve):
    server = serve({"sessions": True, "rules": [{"on": {"method": "DELETE"}, "do": ["hang"]}]})

    async def main():
        ticks = 0
        async with verifi.Run(server.manifest()) as run:
            await run.mcp("kali").call_async("echo")
            closing = asyncio.ensure_future(run.close_async())
            while not closing.done():
                await asyncio.sleep(0.01)
                ticks += 1
            await closing
        return ticks

    assert asyncio.run(main()) > 20


# Rule 2.8.
def test_progress_is_reported_in_the_loop(kali):
    async def main():
        threads, loop_thread = [], threading.get_ident()
        result = await kali.call_async(
            "progress", {"n": 3}, on_progress=lambda _: threads.append(threading.get_ident())
        )
        await asyncio.sleep(0)
        return result.ok, set(threads) == {loop_thread}

    assert asyncio.run(main()) == (True, True)


# Rule 7.3.
def test_asyncio_is_not_imported_before_it_is_used():
    code = "import sys, verifi; sys.exit('asyncio' in sys.modules or 'logging' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
