"""What `turns.py` has, for clients whose calls are awaited."""

import asyncio
import sys
import time

from turns import Turn, fail


async def calls(turn, call):
    """The calls of one of those that are at work at once."""
    for _ in range(turn.count // turn.width):
        turn.last = ""
        begin = time.perf_counter_ns()
        turn.last = await call(turn.tool)
        turn.each.append(time.perf_counter_ns() - begin)


async def as_tasks(turn, call):
    if turn.width == 1:
        await calls(turn, call)
    else:
        await asyncio.gather(*(calls(turn, call) for _ in range(turn.width)))


async def take(call):
    """Takes turns until the input ends; `call` makes a call of a tool, and gives its text."""
    for line in sys.stdin:
        turn, begin = Turn(line), time.perf_counter_ns()
        try:
            await as_tasks(turn, call)
        except Exception as error:
            fail(error)
        else:
            turn.tell(begin)
