"""A server on the official Python SDK, for the interop tests: `python_server.py PORT`, on 127.0.0.1.

It is the SDK as it comes, on uvicorn, which closes idle connections sooner here.
"""

import sys

import uvicorn
from mcp.server.mcpserver import Context, Image, MCPServer
from python_tools import add_tools

server = MCPServer("verifi-interop")
add_tools(server, Context, Image, lambda context: context.protocol_version)

if __name__ == "__main__":
    app = server.streamable_http_app()
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), timeout_keep_alive=1, log_level="info")
