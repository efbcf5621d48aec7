"""The tools of the servers in Python: one for each shape of answer."""

import asyncio
from collections import defaultdict
from typing import Annotated

from mcp.types import (
    ElicitRequest,
    ElicitRequestFormParams,
    EmbeddedResource,
    InputRequiredResult,
    TextContent,
    TextResourceContents,
)
from pydantic import BaseModel, Field

PIXEL = b"\x89PNG\r\n\x1a\n"
# What a client must give back as it is.
STATE = '{"round": 1} \U0001f511\n\t.'
# The labels of the scans that were cancelled.
stops = defaultdict(asyncio.Event)


class Asked(BaseModel):
    name: str = "verifi"


def add_tools(server, Context, Image, version_of):
    """Context and Image are the framework's; version_of(context) is the revision that the client speaks."""

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
    def locate(
        region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})],
        depth: Annotated[int, Field(json_schema_extra={"x-mcp-header": "Depth"})],
    ) -> str:
        return f"{depth} {region}"

    @server.tool()
    async def scan(steps: int, step_ms: int, context: Context, label: str = "") -> str:
        try:
            for step in range(1, steps + 1):
                await asyncio.sleep(step_ms / 1000)
                await context.report_progress(progress=step, total=steps, message=f"step {step}")
        except asyncio.CancelledError:
            stops[label].set()
            raise
        return f"{steps} steps"

    @server.tool()
    async def stopped(label: str) -> str:
        """Waits until the scan with the label was cancelled."""
        await stops[label].wait()
        return label

    @server.tool()
    async def confirm(context: Context) -> str | InputRequiredResult:
        """Asks for a name, in the way of the client's era."""
        if version_of(context) != "2026-07-28":
            answer = await context.elicit("Who?", Asked)
            return f"accept {answer.data.name}" if answer.action == "accept" else answer.action
        if context.input_responses is None:
            params = ElicitRequestFormParams(message="Who?", requested_schema=Asked.model_json_schema())
            return InputRequiredResult(input_requests={"name": ElicitRequest(params=params)}, request_state=STATE)
        answer = context.input_responses["name"]
        assert context.request_state == STATE
        return f"accept {answer.content['name']}" if answer.action == "accept" else answer.action
