"""`verifi_client.py sync|async URL SECRETS`: verifi as it is called in Python."""

import asyncio
import sys

import turns
import verifi


def text(result):
    if not result.ok:
        raise RuntimeError(result.error)
    return result.text


def main():
    url, secrets = turns.place()
    with verifi.Run({"runId": "bench", "slotFills": {"kali": url}}, secrets=secrets) as run:
        kali = run.mcp("kali")
        if sys.argv[1] == "async":

            async def call_async(tool):
                return text(await kali.call_async(tool, {"n": 1}))

            asyncio.run(turns.take_async(call_async))
        else:
            turns.take(lambda tool: text(kali.call(tool, {"n": 1})))


main()
