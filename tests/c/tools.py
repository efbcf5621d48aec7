"""Builds the C programs of the tests and runs them: plain, under sanitizers, under valgrind."""

import contextlib
import json
import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "tests" / "c"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
OUT = TARGET / "c"
PREFIX = OUT / "prefix"
# The release build, for programs that are slow already.
FAST = OUT / "lib-release"

STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
CC = ["cc", "-std=c11", "-D_GNU_SOURCE", "-g", *STRICT, "-pthread", f"-I{ROOT / 'include'}"]
NATIVE = ["-lm", "-ldl", "-lrt", "-lutil"]
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]
VALGRIND = ["valgrind", "-q", "--error-exitcode=99", "--fair-sched=yes", "--leak-check=full"]
VALGRIND += ["--show-leak-kinds=definite", "--errors-for-leak-kinds=definite", f"--suppressions={SOURCES / 'ring.supp'}"]

# How much slower than usual a program may be there.
PATIENCE = {"plain": 1, "sanitized": 2, "valgrind": 10}


def run(command, **options):
    """Runs a command; what it printed is in the error if it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **options)
    assert done.returncode == 0, f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout}"
    return done.stdout


def link(folder, profile):
    """The shared library under the names by which it is built against and loaded."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("libverifi.so", "libverifi.so.1"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(TARGET / profile / "libverifi.so")


def sources(name):
    more = {"driver": "fields.c", "faulty": None}.get(name, "check.c")
    return [SOURCES / f"{name}.c"] + ([SOURCES / more] if more else [])


def build_all():
    """The programs: with the shared library, and sanitized with the static one."""
    run(["cargo", "build", "--locked", "-p", "verifi-ffi", "-p", "verifi-tests"], cwd=ROOT)
    libraries = OUT / "lib"
    link(libraries, "debug")
    link(FAST, "release")
    for name in ("driver", "misuse", "threads", "journal", "faulty"):
        shared = [f"-L{libraries}", "-lverifi", f"-Wl,-rpath,{libraries}"]
        run([*CC, *sources(name), *shared, "-o", OUT / name])
        if sanitizers():
            run([*CC, *SANITIZE, *sources(name), TARGET / "debug" / "libverifi.a", *NATIVE, "-o", OUT / f"{name}-sanitized"])


def sanitizers():
    """Whether the C compiler has them."""
    probe = ["cc", "-fsanitize=address,undefined", "-x", "c", "-", "-o", "/dev/null"]
    return subprocess.run(probe, input="int main(void) { return 0; }", text=True, stderr=subprocess.DEVNULL).returncode == 0


def ways():
    """The ways in which a program can be run here, and those that are missing."""
    there = {"plain": True, "sanitized": sanitizers(), "valgrind": shutil.which("valgrind") is not None}
    return [way for way, has in there.items() if has], [way for way, has in there.items() if not has]


def command(name, way):
    """How a program is run that way."""
    program = str(OUT / (f"{name}-sanitized" if way == "sanitized" else name))
    return [*VALGRIND, program] if way == "valgrind" else [program]


def environment(way, server=""):
    """What a program finds around it."""
    return {
        **os.environ,
        "VERIFI_TEST_SERVER": server,
        "VERIFI_TEST_PATIENCE": str(PATIENCE[way]),
        "LD_LIBRARY_PATH": str(FAST) if way == "valgrind" else "",
        # Memory that cannot be had is no fault: verifi looks whether it got it.
        "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1:allocator_may_return_null=1:exitcode=98",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


@contextlib.contextmanager
def server():
    """A well-behaved MCP server: its URL."""
    program = TARGET / "debug" / "scripted-server"
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        try:
            yield json.loads(child.stdout.readline())["url"]
        finally:
            child.stdin.close()


if __name__ == "__main__":
    build_all()
