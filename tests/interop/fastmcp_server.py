"""A FastMCP server for the interop tests: `fastmcp_server.py PORT`, on 127.0.0.1.

It is the framework as it comes: no option of its transport is set. One tool for each shape of answer.
"""

import asyncio
import sys

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.utilities.types import Image
from mcp.types import EmbeddedResource, TextContent, TextResourceContents

server = FastMCP("verifi-interop")
PIXEL = b"\x89PNG\r\n\x1a\n"
requests: dict[str, int] = {}


@server.tool
def echo(message: str) -> str:
    return message


@server.tool
def add(a: int, b: int) -> int:
    return a + b


@server.tool
def fail(reason: str) -> str:
    raise ToolError(reason)


@server.tool
def picture() -> Image:
    return Image(data=PIXEL, format="png")


@server.tool
def report() -> list:
    return [
        TextContent(type="text", text="see"),
        EmbeddedResource(
            type="resource",
            resource=TextResourceContents(uri="file:///report.txt", mimeType="text/plain", text="port 443 open"),
        ),
    ]


@server.tool
def ports() -> dict:
    return {"open": [22, 443]}


@server.tool
async def scan(steps: int, step_ms: int, context: Context) -> str:
    for step in range(1, steps + 1):
        await asyncio.sleep(step_ms / 1000)
        await context.report_progress(progress=step, total=steps, message=f"step {step}")
    return f"{steps} steps"


if __name__ == "__main__":
    server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
