"""The tests of the C face: `run.py [NAME...]`, a name being a part of a test's. The last line is `N passed, N failed`."""

import os
import re
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

import tools
from tools import CC, OUT, PREFIX, ROOT, STRICT, TARGET, run

HEADER = ROOT / "include" / "verifi.h"
SCENARIOS = TARGET / "debug" / "scenarios"


def functions_of_header():
    return set(re.findall(r"\b(verifi_\w+)\(", HEADER.read_text("utf-8")))


def programs(way):
    """Runs the C programs that way; each prints what came of its tests."""
    for name in ("misuse", "threads", "journal"):
        with tools.server() as url:
            print(run(tools.command(name, way), env=tools.environment(way, url)), end="", flush=True)


def scenarios(driver, *options, env=None):
    said = run([SCENARIOS, "--driver", driver, *options], env=env)
    closing = said.rstrip().rsplit("\n", 1)[-1]
    print(closing)
    assert re.match(r"scenarios: [1-9]\d* passed, 0 failed", closing)


# Rules 2.1, 7.2.
def test_programs():
    programs("plain")


# Rules 2.1, 7.2.
def test_programs_sanitized():
    programs("sanitized")


# Rules 2.1, 7.2.
def test_programs_valgrind():
    programs("valgrind")


# Rules 2.2, 4.1, 4.3, 7.1.
def test_scenarios_are_as_in_rust():
    with tempfile.TemporaryDirectory() as folder:
        scenarios(str(OUT / "driver"), "--dump", f"{folder}/c")
        scenarios(str(TARGET / "debug" / "driver-rust"), "--dump", f"{folder}/rust")
        # What C cannot express is left out of the comparison.
        for missing in set(os.listdir(f"{folder}/rust")) - set(os.listdir(f"{folder}/c")):
            os.remove(f"{folder}/rust/{missing}")
        print(run([SCENARIOS, "--compare", f"{folder}/rust", f"{folder}/c"]).rstrip().rsplit("\n", 1)[-1])


# Rules 7.1, 7.2.
def test_scenarios_sanitized():
    scenarios(" ".join(tools.command("driver", "sanitized")), env=tools.environment("sanitized"))


# Rules 7.1, 7.2.
def test_scenarios_valgrind():
    """Some scenarios look at the clock or at memory, which valgrind changes: what counts is what valgrind says itself."""
    with tempfile.TemporaryDirectory() as logs:
        valgrind, program = tools.command("driver", "valgrind")[:-1], str(OUT / "driver")
        driver = " ".join([*valgrind, f"--log-file={logs}/%p", program])
        for topic in ("streams", "lists", "failover"):
            options = ["--driver", driver, "--form", "blocking", "--jobs", "2", "--filter", f"{topic}:"]
            subprocess.run([SCENARIOS, *options], env=tools.environment("valgrind"), capture_output=True, check=False)
        told = [log.read_text() for log in Path(logs).iterdir()]
        assert len(told) > 20, f"{len(told)} processes"
        assert not any(told), "".join(told)


def faulty(way, fault):
    done = subprocess.run([*tools.command("faulty", way), fault], env=tools.environment(way), capture_output=True, text=True)
    return done.returncode, done.stderr


# Rule 7.2.
def test_sanitized_faults_are_found():
    assert faulty("sanitized", "nothing") == (0, "")
    for fault, word in [("leak", "LeakSanitizer"), ("read-after-free", "heap-use-after-free"), ("overflow", "overflow")]:
        status, said = faulty("sanitized", fault)
        assert status != 0 and word in said, f"{fault}: {status} {said}"


# Rule 7.2.
def test_valgrind_faults_are_found():
    assert faulty("valgrind", "nothing") == (0, "")
    for fault, word in [("leak", "definitely lost"), ("read-after-free", "Invalid read")]:
        status, said = faulty("valgrind", fault)
        assert status == 99 and word in said, f"{fault}: {status} {said}"


# Rules 7.1, 7.2.
def test_the_header_compiles_alone():
    for compiler, standard, language in [("cc", "c99", "c"), ("c++", "c++17", "c++")]:
        run([compiler, f"-std={standard}", "-x", language, *STRICT, "-fsyntax-only", HEADER])


# Rules 1.4, 7.1.
def test_the_library_exports_what_the_header_declares():
    said = run(["nm", "-D", "--defined-only", PREFIX / "lib" / "libverifi.so"])
    exported = {line.split()[-1] for line in said.splitlines()}
    assert exported == functions_of_header(), exported ^ functions_of_header()
    assert run(["nm", "-g", "--defined-only", PREFIX / "lib" / "libverifi.a"]).count(" T verifi_") == len(exported)


# Rule 1.4.
def test_no_function_takes_a_request():
    """An argument by which a caller could choose where a request goes or what it is would be named like these."""
    prototypes = re.findall(r"^\w[\w *]*\b(verifi_\w+)\(([^)]*)\);", HEADER.read_text("utf-8"), re.MULTILINE)
    assert len(prototypes) == len(functions_of_header())
    texts = {f"{name}.{text}" for name, given in prototypes for text in re.findall(r"verifi_str \*?(\w+)", given)}
    # Each text that goes in, and where: a new one is to be looked at before it is added here.
    assert texts == {
        "verifi_run_open.manifest",
        "verifi_run_open.options",
        "verifi_run_slot.name",
        "verifi_run_log.line",
        "verifi_slot_call.tool",
        "verifi_slot_call.arguments",
        "verifi_slot_submit.tool",
        "verifi_slot_submit.arguments",
        "verifi_journal_verify.path",
        "verifi_journal_open.path",
        "verifi_secrets_redact.text",
        "verifi_secrets_redact.secrets",
        "verifi_secrets_collect.environment",
    }, texts


# Rule 7.1.
def test_the_library_is_named_by_its_abi():
    abi = re.search(r"#define VERIFI_ABI_VERSION (\d+)", HEADER.read_text("utf-8")).group(1)
    library = PREFIX / "lib" / f"libverifi.so.{abi}"
    assert f"[libverifi.so.{abi}]" in run(["readelf", "-d", library])
    assert library.is_symlink() and (PREFIX / "lib" / "libverifi.so").resolve() == library.resolve()
    size = library.stat().st_size
    print(f"{library.resolve().name}: {size} bytes, stripped")
    assert size < 5_000_000
    assert ".symtab" not in run(["readelf", "-SW", library])


def pkg_config(*options):
    env = {**os.environ, "PKG_CONFIG_PATH": str(PREFIX / "lib" / "pkgconfig")}
    return run(["pkg-config", *options, "verifi"], env=env).split()


def quickstart(*link):
    """Builds the quick start and makes its call: what it says of a server that has no such tool."""
    program = OUT / "quickstart"
    run(["cc", ROOT / "ffi" / "examples" / "quickstart.c", "-o", program, *link])
    with tools.server() as url:
        manifest = f'{{"runId": "r", "slotFills": {{"kali": "{url}"}}}}'
        return run([program, manifest], env={**os.environ, "LD_LIBRARY_PATH": str(PREFIX / "lib")})


def with_the_installed_library(name, source):
    """Builds a program as a user does: where it is."""
    flags = ["-std=c11", "-D_GNU_SOURCE", *STRICT, "-pthread", f"-Wl,-rpath,{PREFIX / 'lib'}"]
    run(["cc", *flags, source, *pkg_config("--cflags", "--libs"), "-o", OUT / name])
    return OUT / name


# Rule 7.1.
def test_a_program_is_built_with_pkg_config():
    for options, more in [([], []), (["--static"], ["-static"])]:
        said = quickstart(*pkg_config(*options, "--cflags", "--libs"), *more)
        assert said.strip() == "Unknown tool: run_command (code -32602)", said
    assert "not a dynamic executable" in subprocess.run(["ldd", OUT / "quickstart"], capture_output=True, text=True).stderr


# Rule 7.1.
def test_another_rust_library_is_linked_beside():
    other, library = OUT / "libother.a", PREFIX / "lib" / "libverifi.a"
    for lto in ("off", "fat"):
        rustc = ["rustc", "--edition", "2024", "--crate-type", "staticlib", "-O", "-C", f"lto={lto}"]
        run([*rustc, tools.SOURCES / "other.rs", "-o", other])
        for order in ([library, other], [other, library]):
            run([*CC, *tools.sources("beside"), *order, *tools.NATIVE, "-o", OUT / "beside"])
            with tools.server() as url:
                run([OUT / "beside"], env=tools.environment("plain", url))


# Rules 4.1, 6.2, 7.1.
def test_the_sweep_adds_up():
    run(["cargo", "build", "--locked", "-p", "verifi", "--example", "sweep-server"], cwd=ROOT)
    program = with_the_installed_library("sweep", ROOT / "ffi" / "examples" / "sweep.c")
    said = run([program, TARGET / "debug" / "examples" / "sweep-server"])
    assert "failovers announced: 1; secrets replaced: " in said, said


# Rules 4.4, 4.5.
def test_a_killed_harness_leaves_its_journal():
    program = with_the_installed_library("crash-harness", ROOT / "tests" / "crash" / "harness.c")
    crash = ["cargo", "test", "--locked", "-p", "verifi-tests", "--test", "crash", "--", "--nocapture"]
    said = run(crash, cwd=ROOT, env={**os.environ, "CRASH_KILLS": "10", "CRASH_HARNESSES": str(program)})
    print(said[said.index(f"10 times {program}") :].splitlines()[1])


def main(names):
    run(["sh", ROOT / "ffi" / "install.sh", PREFIX])
    tools.build_all()
    there, missing = tools.ways()
    tests = [test for name, test in globals().items() if name.startswith("test_")]
    skipped = [test for test in tests if any(way in test.__name__ for way in missing)]
    failed = passed = 0
    for test in tests:
        if test in skipped or (names and not any(name in test.__name__ for name in names)):
            continue
        begin = time.monotonic()
        try:
            test()
        except Exception as fault:
            traceback.print_exc(file=sys.stdout)
            print(f"{test.__name__} ... FAILED: {str(fault).partition(chr(10))[0]}")
            failed += 1
        else:
            passed += 1
        print(f"{test.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
    for way in missing:
        print(f"WARNING: NOT TESTED: this machine has nothing to run C programs {way}")
    print(f"{passed} passed, {failed} failed, {len(skipped)} skipped" if skipped else f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
