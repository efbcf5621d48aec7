"""Who is measured: the floor, verifi in each language, the peers that can be installed, and the bare interpreters."""

import json
import re
import subprocess
import sys
from pathlib import Path

from processes import Client

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TARGET = ROOT / "target"
OUT = TARGET / "bench"
CLIENTS = HERE / "clients"
PEERS = HERE / "peers"
WHEEL_PYTHON = TARGET / "python" / "bin" / "python"
PEERS_PYTHON = ROOT / ".venv" / "bin" / "python"


def compile_c(library):
    """The client in C, against the library in a folder."""
    program = OUT / "verifi-c"
    flags = ["-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", f"-I{ROOT / 'include'}"]
    linked = [f"-L{library}", "-lverifi", f"-Wl,-rpath,{library}"]
    subprocess.run(["cc", *flags, CLIENTS / "verifi.c", *linked, "-o", program], check=True)
    return program


def own(profile, library):
    """The project's own, from a cargo profile's folder and with the C library of another."""
    built = TARGET / profile
    node = {"VERIFI_PACKAGE": str(ROOT / "bindings" / "node")}
    return [
        Client("floor", "floor", built / "bench-floor", checked=False),
        Client("rust", "Rust", built / "bench-verifi", "blocking"),
        Client("rust-awaited", "Rust, awaited", built / "bench-verifi", "awaited"),
        Client("c", "C", compile_c(library)),
        Client("python", "Python", WHEEL_PYTHON, CLIENTS / "blocking.py"),
        Client("python-async", "Python, async", WHEEL_PYTHON, CLIENTS / "awaited.py"),
        Client("node", "Node", "node", CLIENTS / "verifi.mjs", env=node),
    ]


def bare():
    """The interpreters by themselves: they answer without a call."""
    said = json.dumps({"ns": 0, "bytes": 0, "redacted": 0, "each": [0]})
    loop = f"for line in sys.stdin: print({said!r}, flush=True)"
    asynchronous = f"import asyncio, sys\nasync def main():\n  {loop}\nasyncio.run(main())"
    node = f"process.stdin.on('data', () => process.stdout.write({said + chr(10)!r}))"
    return [
        Client("bare-python", "Python by itself", WHEEL_PYTHON, "-c", f"import sys\n{loop}"),
        Client("bare-asyncio", "asyncio by itself", WHEEL_PYTHON, "-c", asynchronous),
        Client("bare-node", "Node by itself", "node", "-e", node, "--"),
    ]


def quiet(*command):
    """Runs a command; its last words are in the error when it fails."""
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        lines = done.stdout.strip().splitlines() or [f"status {done.returncode}"]
        raise OSError(lines[-1])
    return done.stdout.strip()


def rmcp():
    manifest, built = PEERS / "rmcp" / "Cargo.toml", OUT / "rmcp"
    quiet("cargo", "build", "--quiet", "--release", "--locked", "--manifest-path", manifest, "--target-dir", built)
    version = re.search(r'name = "rmcp"\nversion = "(.+)"', (PEERS / "rmcp" / "Cargo.lock").read_text())[1]
    program = built / "release" / "bench-rmcp"
    return [
        Client("rmcp-tuned", f"rmcp {version}, tuned", program, "tuned"),
        Client("rmcp", f"rmcp {version}", program, "plain"),
    ]


def python():
    quiet("make", "--no-print-directory", ".venv/installed")
    asked = "from importlib.metadata import version; print(version('mcp'), version('fastmcp'))"
    path = {"PYTHONPATH": str(CLIENTS)}
    mcp, fastmcp = quiet(PEERS_PYTHON, "-c", asked).split()
    return [
        Client("official-python", f"official Python {mcp}", PEERS_PYTHON, PEERS / "official.py", env=path),
        Client("fastmcp", f"FastMCP {fastmcp}", PEERS_PYTHON, PEERS / "fast.py", env=path),
    ]


def typescript():
    quiet("npm", "--prefix", PEERS, "ci", "--no-audit", "--no-fund")

    def version(package):
        return json.loads((PEERS / "node_modules" / package / "package.json").read_text())["version"]

    older, newer = version("@modelcontextprotocol/sdk"), version("@modelcontextprotocol/client")
    return [
        Client("official-typescript-2", f"official TypeScript {newer}", "node", PEERS / "typescript2.mjs"),
        Client("official-typescript-1", f"official TypeScript {older}", "node", PEERS / "typescript1.mjs"),
    ]


def peers():
    """The clients that a user would take instead, and why others of them are missing."""
    found, missing = [], {}
    for name, install in {"rmcp": rmcp, "official Python, FastMCP": python, "official TypeScript": typescript}.items():
        try:
            found += install()
        except OSError as error:
            missing[name] = str(error)
    return found, missing


def draw(folder):
    """The pictures of the figures in the folder, beside them, by a Python that has what draws them."""
    venv, locked = OUT / "python", HERE / "requirements.txt"
    if not (venv / "installed").exists():
        quiet(sys.executable, "-m", "venv", "--clear", venv)
        quiet(venv / "bin" / "pip", "install", "--disable-pip-version-check", "--require-hashes", "-r", locked)
        (venv / "installed").touch()
    quiet(venv / "bin" / "python", HERE / "draw.py", folder)
