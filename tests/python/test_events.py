"""Events: lists, callbacks, streams, and the logger."""

import asyncio
import gc
import logging
import sys
import threading
import weakref

import pytest

import verifi


# Rule 4.3.
def test_events_are_read_called_back_and_streamed_alike(server):
    called, done = [], threading.Event()

    def callback(event):
        called.append(event)
        if event["kind"] == "run_finished":
            done.set()

    with verifi.Run(server.manifest()) as run:
        run.subscribe(callback, since=1)
        stream, late = run.stream(since=1), run.stream()
        run.mcp("kali").call("fail")
        run.log("a line")
    assert done.wait(10)
    events = run.events()
    assert called == events == list(stream)
    assert list(late) == events[1:]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    kinds = ["run_started", "call_started", "call_finished", "tool_error", "log", "run_finished"]
    assert [event["kind"] for event in events] == kinds


# Rule 4.3.
def test_a_callback_that_raises_disturbs_nothing(kali, run, monkeypatch):
    reports, done = [], threading.Event()
    monkeypatch.setattr(sys, "unraisablehook", lambda report: reports.append((report.object, str(report.exc_value))))

    def callback(event):
        if event["kind"] == "run_finished":
            done.set()
        raise ValueError(event["kind"])

    run.subscribe(callback)
    assert kali.call("echo").ok
    run.close()
    assert done.wait(10)
    wanted = [(callback, kind) for kind in ("call_started", "call_finished", "run_finished")]
    while len(reports) < len(wanted):
        threading.Event().wait(0.001)
    assert reports == wanted


# Rule 4.3.
def test_a_slow_callback_holds_up_no_call(kali, run):
    go = threading.Event()
    run.subscribe(lambda _: go.wait(20))
    assert kali.call("echo").latency_ms < 5000
    go.set()


# Rule 4.3.
def test_closing_a_subscription_ends_it(kali, run):
    called, first = [], threading.Event()

    def callback(event):
        called.append(event)
        first.set()

    with run.subscribe(callback) as subscription:
        run.log("one")
        assert first.wait(10)
    subscription.close()
    run.log("two")
    kali.call("echo")
    assert [event.get("message") for event in called] == ["one"]


# Rules 4.3, 7.3.
def test_async_for(kali, run):
    async def main():
        seen = []
        stream = run.stream()
        call = asyncio.ensure_future(kali.call_async("echo"))
        async for event in stream:
            seen.append(event["kind"])
            if event["kind"] == "call_finished":
                await call
                await run.close_async()
        return seen

    assert asyncio.run(main()) == ["call_started", "call_finished", "run_finished"]


# Rule 4.3.
def test_a_reader_that_is_cancelled_loses_no_event(run):
    async def main():
        stream = run.stream()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(stream.__anext__(), 0.02)
        run.log("one")
        run.log("two")
        return [(await stream.__anext__())["message"] for _ in range(2)]

    assert asyncio.run(main()) == ["one", "two"]


# Rule 4.3.
def test_a_stream_that_was_closed_has_ended(run):
    async def main():
        stream = run.stream()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(stream.__anext__(), 0.02)
        waiting = asyncio.ensure_future(anext(stream, "ended"))
        await asyncio.sleep(0)
        stream.close()
        return [await waiting, await anext(stream, "ended"), next(stream, "ended")]

    assert asyncio.run(main()) == ["ended"] * 3


# Rule 4.3.
def test_a_stream_that_nobody_holds_ends_its_thread(run):
    async def main():
        stream = run.stream()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(stream.__anext__(), 0.01)
        return [thread for thread in threading.enumerate() if thread.name == "verifi-stream"]

    threads = asyncio.run(main())
    gc.collect()
    assert len(threads) == 1
    threads[0].join(10)
    assert not threads[0].is_alive()


# Rule 4.3.
def test_a_subscriber_that_knows_the_run_does_not_keep_it(server):
    ended = threading.Event()
    run = verifi.Run(server.manifest())
    known = weakref.ref(run)
    run.subscribe(lambda event: event["kind"] == "run_finished" and known() is None and ended.set())
    del run
    gc.collect()
    assert ended.wait(10)


# Rule 4.3.
def test_log_events_writes_to_a_logger(kali, run, caplog):
    caplog.set_level(logging.DEBUG, "scan")
    verifi.log_events(run, logging.getLogger("scan"))
    kali.call("fail")
    run.log("half way")
    run.close()
    for thread in threading.enumerate():
        if thread.name == "verifi-subscriber":
            thread.join(10)
    found = [(record.levelname, record.verifi["kind"]) for record in caplog.records]
    assert found == [
        ("DEBUG", "call_started"),
        ("DEBUG", "call_finished"),
        ("WARNING", "tool_error"),
        ("INFO", "log"),
        ("INFO", "run_finished"),
    ]
    assert "half way" in caplog.text
