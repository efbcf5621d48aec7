"""`official.py URL SECRETS`: the official client for Python, as it comes."""

import asyncio

import turns
import turns_async
from mcp import Client


async def main():
    url, secrets = turns.place()
    async with Client(f"{url}/mcp") as client:

        async def call(tool):
            result = await client.call_tool(tool, {"n": 1})
            return turns.scrub(result.content[0].text, secrets)

        await turns_async.take(call)


asyncio.run(main())
