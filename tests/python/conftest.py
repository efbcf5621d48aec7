"""Scripted servers, and programs of their own for what a test cannot do to itself."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import verifi

ROOT = Path(__file__).resolve().parents[2]
assert ROOT not in Path(verifi.__file__).resolve().parents or "site-packages" in verifi.__file__, "not the wheel"


class Server:
    """A scripted MCP server; `tests/README.md` has scripts and commands."""

    def __init__(self, script):
        program = os.environ.get("SCRIPTED_SERVER", ROOT / "target/debug/scripted-server")
        self.process = subprocess.Popen([program, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self._ask(script)["url"]

    def _ask(self, value):
        self.process.stdin.write(json.dumps(value) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def command(self, **command):
        answer = self._ask(command)
        assert "ok" in answer, answer
        return answer["ok"]

    def waits_for(self, **condition):
        return self.command(**{"await": condition})

    def requests(self, rpc):
        return [request for request in self.command(do="record")["requests"] if request.get("rpc") == rpc]

    def manifest(self, run_id="r-1"):
        return {"runId": run_id, "slotFills": {"kali": self.url}}

    def end(self):
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()


@pytest.fixture
def serve():
    """Starts servers by their scripts."""
    servers = []

    def start(script=None):
        servers.append(Server(script or {}))
        return servers[-1]

    yield start
    for server in servers:
        server.end()


@pytest.fixture
def server(serve):
    return serve()


@pytest.fixture
def run(server):
    with verifi.Run(server.manifest(), timeout=20) as run:
        yield run


@pytest.fixture
def kali(run):
    return run.mcp("kali")


@pytest.fixture
def program(server):
    """Starts Python with a program that finds `kali` and `run` in place."""
    started = []

    def start(text, python=sys.executable):
        text = f"import json, sys, verifi\nrun = verifi.Run(json.loads(sys.argv[1]))\nkali = run.mcp('kali')\n{text}"
        command = [python, "-c", text, json.dumps(server.manifest())]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True))
        return started[-1]

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()
