"""The package as it is installed: names, stub, types, size."""

import importlib.metadata
import inspect
import json
import os
import re
import statistics
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import verifi

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "bindings/python/examples"


def python(*arguments, **options):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, **options)


def wheel():
    return Path(os.environ["VERIFI_WHEEL"])


# Rules 1.4, 7.1.
def test_the_public_names():
    public = {name for name in vars(verifi) if not name.startswith("_")}
    assert public == set(verifi.__all__) - {"__version__"}
    members = {
        verifi.Run: "close close_async events id ledger log mcp slot_names stream subscribe",
        verifi.Slot: "call call_async endpoint health list_tools list_tools_async name tool_definitions "
        "tool_definitions_async",
        verifi.ToolResult: "error is_error latency_ms may_have_run ok outcome raw raw_json redactions server text",
    }
    for kind, names in members.items():
        assert {name for name in dir(kind) if not name.startswith("_")} == set(names.split())


# Rule 1.4.
def test_nothing_takes_a_url_method_or_body():
    words = re.compile("url|method|body|header|client|session", re.IGNORECASE)
    for function in (verifi.redact, verifi.collect_run_secrets, verifi.log_events):
        assert not [word for word in inspect.signature(function).parameters if words.search(word)]
    for kind in (verifi.Run, verifi.Slot):
        for name, member in inspect.getmembers(kind, inspect.isfunction):
            assert not [word for word in inspect.signature(member).parameters if words.search(word)], name


# Rules 3.1, 7.1.
def test_versions():
    assert verifi.SDK_VERSION == "1.0.0"
    assert verifi.__version__ == importlib.metadata.version("verifi")


# Rule 7.1.
def test_everything_public_is_documented():
    for name in set(verifi.__all__) - {"SDK_VERSION", "__version__", "Outcome", "Server", "ToolDefinition"}:
        item = getattr(verifi, name)
        assert item.__doc__, name
        if isinstance(item, type):
            for member, value in vars(item).items():
                if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                    assert value.__doc__ or item.__mro__[1].__dict__[member].__doc__, f"{name}.{member}"


# Rule 7.1.
def test_the_stub_says_what_the_module_has():
    done = python("-m", "mypy.stubtest", "verifi._verifi")
    assert done.returncode == 0, done.stdout + done.stderr


# Rule 7.1.
def test_the_examples_pass_the_strict_type_check(tmp_path):
    done = python("-m", "mypy", "--strict", "--cache-dir", tmp_path, *sorted(EXAMPLES.glob("*.py")), cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


# Rule 7.1.
def test_types_are_found_and_hold(tmp_path):
    (tmp_path / "sample.py").write_text("""
import verifi
run = verifi.Run({"runId": "r", "slotFills": {}})
result = run.mcp("kali").call("echo", {"n": 1}, timeout=1.5)
reveal_type(result)
reveal_type(result.outcome)
reveal_type(run.ledger()["slots"]["kali"]["toolCalls"])
run.mcp(3)
async def main() -> None:
    reveal_type(await run.mcp("kali").call_async("echo"))
    async for event in run.stream():
        reveal_type(event["seq"])
""")
    done = python("-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", "sample.py", cwd=tmp_path)
    revealed = re.findall(r'Revealed type is "([^"]+)"', done.stdout)
    assert [re.sub(r"builtins\.|verifi\._verifi\.", "", kind) for kind in revealed][0] == "ToolResult"
    assert "Literal['ok']" in revealed[1]
    assert [kind.split(".")[-1] for kind in revealed[2:]] == ["int", "ToolResult", "int"]
    assert len(re.findall("error:", done.stdout)) == 1 and "arg-type" in done.stdout


# Rule 7.1.
def test_the_wheel_has_what_it_needs_and_is_small():
    with zipfile.ZipFile(wheel()) as archive:
        names = {name.rsplit("/", 1)[-1] for name in archive.namelist() if name.startswith("verifi/")}
    assert {"__init__.py", "py.typed", "_verifi.pyi"} <= names
    assert wheel().stat().st_size < 4_000_000
    assert re.search(r"-cp310-abi3-manylinux_\d+_\d+_\w+\.whl$", wheel().name)


# Rule 7.1.
def test_auditwheel_finds_a_manylinux_tag():
    done = python("-m", "auditwheel", "show", wheel())
    shown = " ".join(done.stdout.split())
    assert re.search(r'is consistent with the following platform tag: "manylinux_', shown), done.stdout + done.stderr


COST = """
import json, sys, time
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
before, begin = resident(), time.process_time()
if sys.argv[1] == "verifi":
    import verifi
print(json.dumps([time.process_time() - begin, resident() - before]))
"""


# Rule 7.1.
def test_the_import_is_cheap():
    costs = [json.loads(python("-c", COST, "verifi").stdout) for _ in range(15)]
    # In time of the processor, which a machine that is busy with something else does not add to.
    assert min(seconds for seconds, _ in costs) < 0.015
    assert statistics.median(size for _, size in costs) < 10_000_000


# Rule 7.3.
@pytest.mark.skipif(sys.version_info < (3, 12), reason="before 3.12 an import there is not told from a second import")
def test_a_second_interpreter_is_told_that_it_cannot_have_it():
    module = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
    done = python(
        "-c",
        f"""
import verifi, {module} as interpreters
interpreter = interpreters.create()
code = '''
try:
    import verifi
except ImportError as error:
    print("ImportError:", error, flush=True)
'''
interpreters.run_string(interpreter, code)
print("goes on", verifi.redact("abcdef", ["abcd"]))
""",
    )
    assert "ImportError: " in done.stdout and "interpreter" in done.stdout, done.stdout + done.stderr
    assert done.stdout.endswith("goes on [REDACTED]ef\n")
    assert done.returncode == 0
