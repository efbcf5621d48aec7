"""How a harness drives its tools: one slot, one sweep, no failure that ends it.

    python sweep.py MANIFEST.json          one step after the other
    python sweep.py MANIFEST.json --async  several at once
"""

import asyncio
import json
import math
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import verifi

# A call is given up after 300 s, and a tool that is given up runs on, and its output is lost. So the box ends it itself
# a little earlier.
CEILING_S = 285

ANSWER = re.compile(r"\$ [^\n]*\n\(exit (-?\d+)\)\n(.*)", re.DOTALL)

COMMANDS = ("uname -sr", "openssl version", "getent hosts localhost", "cat no-such-file", "nmap -sV localhost")


class Output(NamedTuple):
    """What a command gave. `ok` is the command's own success, not that of the call."""

    command: str
    ok: bool
    text: str


def arguments(run: verifi.Run, command: str, timeout: float) -> dict[str, Any]:
    """Of `run_command`. The workspace keeps runs apart that share the box."""
    seconds = min(max(1, math.ceil(timeout)), CEILING_S)
    return {"command": command, "timeout": seconds, "workspace": run.id}


def unwrap(command: str, result: verifi.ToolResult) -> Output:
    """The box answers `$ COMMAND`, `(exit N)` and the output."""
    text = result.text if result.ok else (result.error or "run_command failed")
    if match := ANSWER.fullmatch(text):
        return Output(command, match[1] == "0", match[2])
    return Output(command, result.ok, text)


def sweep(run: verifi.Run, commands: Sequence[str] = COMMANDS, timeout: float = 300) -> list[Output]:
    """Runs the commands one after the other. One that fails says nothing about the next."""
    kali = run.mcp("kali")
    outputs = []
    for command in commands:
        output = unwrap(command, kali.call("run_command", arguments(run, command, timeout)))
        if not output.ok:
            run.log(f"{command}: {output.text.strip()}")
        outputs.append(output)
    return outputs


async def sweep_async(run: verifi.Run, commands: Sequence[str] = COMMANDS, timeout: float = 300) -> list[Output]:
    """The same, all at once."""
    kali = run.mcp("kali")

    async def one(command: str) -> Output:
        return unwrap(command, await kali.call_async("run_command", arguments(run, command, timeout)))

    return await asyncio.gather(*map(one, commands))


def show(outputs: list[Output]) -> None:
    for command, ok, text in outputs:
        print(f"{'ok    ' if ok else 'FAILED'} {command}: {text.strip().splitlines()[0] if text.strip() else ''}")


async def main_async(manifest: str) -> None:
    async with verifi.Run(manifest) as run:
        show(await sweep_async(run))
        print(json.dumps(run.ledger(), indent=2))


def main(path: str, *options: str) -> None:
    manifest = Path(path).read_text("utf-8")
    if "--async" in options:
        asyncio.run(main_async(manifest))
        return
    with verifi.Run(manifest) as run:
        show(sweep(run))
        print(json.dumps(run.ledger(), indent=2))


if __name__ == "__main__":
    main(*sys.argv[1:])
