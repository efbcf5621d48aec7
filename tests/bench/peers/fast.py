"""`fast.py URL SECRETS`: FastMCP's client, as it comes."""

import asyncio

import turns
import turns_async
from fastmcp import Client


async def main():
    url, secrets = turns.place()
    async with Client(f"{url}/mcp") as client:

        async def call(tool):
            result = await client.call_tool(tool, {"n": 1})
            return turns.scrub(result.content[0].text, secrets)

        await turns_async.take(call)


asyncio.run(main())
