"""What the official client for Python and FastMCP's have in common as clients of the bench."""

import turns
import turns_async


async def take_turns(client_class):
    url, secrets = turns.place()
    async with client_class(f"{url}/mcp") as client:

        async def call(tool):
            result = await client.call_tool(tool, {"n": 1})
            return turns.scrub(result.content[0].text, secrets)

        await turns_async.take(call)
