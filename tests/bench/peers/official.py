"""`official.py URL SECRETS`: the official client for Python, as it comes."""

import asyncio

import peer
from mcp import Client

asyncio.run(peer.take_turns(Client))
