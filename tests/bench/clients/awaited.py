"""`awaited.py URL SECRETS`: verifi as it is awaited in Python."""

import asyncio

import turns
import turns_async
import verifi


async def main():
    url, secrets = turns.place()
    with verifi.Run({"runId": "bench", "slotFills": {"kali": url}}, secrets=secrets) as run:
        kali = run.mcp("kali")

        async def call(tool):
            result = await kali.call_async(tool, {"n": 1})
            if not result.ok:
                raise RuntimeError(result.error)
            return result.text

        await turns_async.take(call)


asyncio.run(main())
