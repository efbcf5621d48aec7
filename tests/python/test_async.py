"""Awaited calls: any number of loops, and cancelling."""

import asyncio
import gc
import subprocess
import sys
import threading
import time

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
