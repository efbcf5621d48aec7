"""A FastMCP server for the interop tests: `fastmcp_server.py PORT`, on 127.0.0.1.

It is the framework as it comes: no option of its transport is set.
"""

import sys

from fastmcp import Context, FastMCP
from fastmcp.utilities.types import Image
from python_tools import add_tools

server = FastMCP("verifi-interop")
add_tools(server, Context, Image, lambda context: context.request_context.protocol_version)

if __name__ == "__main__":
    server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
