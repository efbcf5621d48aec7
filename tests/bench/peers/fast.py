"""`fast.py URL SECRETS`: FastMCP's client, as it comes."""

import asyncio

import peer
from fastmcp import Client

asyncio.run(peer.take_turns(Client))
