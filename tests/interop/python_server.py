"""A server on the official Python SDK, for the interop tests: `python_server.py PORT`, on 127.0.0.1.

It is the SDK as it comes, on uvicorn, which closes idle connections sooner here. One tool for each shape of answer.
"""

import asyncio
import sys

import uvicorn
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.types import EmbeddedResource, TextContent, TextResourceContents

server = MCPServer("verifi-interop")
PIXEL = b"\x89PNG\r\n\x1a\n"


@server.tool()
def echo(message: str) -> str:
    return message


@server.tool()
def add(a: int, b: int) -> int:
    return a + b


@server.tool()
def picture() -> Image:
    return Image(data=PIXEL, format="png")


@server.tool()
def report() -> list:
    return [
        TextContent(type="text", text="see"),
        EmbeddedResource(
            type="resource",
            resource=TextResourceContents(uri="file:///report.txt", mime_type="text/plain", text="port 443 open"),
        ),
    ]


@server.tool()
def ports() -> dict:
    return {"open": [22, 443]}


@server.tool()
async def scan(steps: int, step_ms: int, context: Context) -> str:
    for step in range(1, steps + 1):
        await asyncio.sleep(step_ms / 1000)
        await context.report_progress(progress=step, total=steps, message=f"step {step}")
    return f"{steps} steps"


if __name__ == "__main__":
    app = server.streamable_http_app()
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), timeout_keep_alive=1, log_level="info")
