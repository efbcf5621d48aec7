"""Runs test commands one after another and ends with their sum: `tally.py COMMAND...`.

All of them run, whatever fails. Then it says again what failed, for who sees the end of the output alone. The last line
is `N passed, N failed`; the status is 1 unless every test passed.
"""

import re
import subprocess
import sys

# The closing line of each runner, as `passed` and `failed`.
CLOSINGS = [
    re.compile(r"^test result: \w+\. (?P<passed>\d+) passed; (?P<failed>\d+) failed"),  # cargo
    re.compile(r"^(?:# |ℹ )pass (?P<passed>\d+)"),  # node
    re.compile(r"^(?:# |ℹ )fail (?P<failed>\d+)"),
    re.compile(r"^=* ?(?:(?P<failed>\d+) failed,? ?)?(?:(?P<passed>\d+) passed)?(?:, \d+ \w+)* in [\d.]+s"),  # pytest
    re.compile(r"^(?:\w+: )?(?P<passed>\d+) passed, (?P<failed>\d+) failed"),  # any other
]
# A line that names a test which failed, in each runner's words.
FAILURE = re.compile(r"^(?:test )?.+ \.\.\. FAILED|^FAILED |^\s*✖ .*\(\d|^\S+:\d+: does not hold: |^thread '.*panicked at ")
COLOUR = re.compile(r"\x1b\[[\d;]*m")


def count(line):
    """The tests that a line of output speaks of: passed and failed."""
    for closing in CLOSINGS:
        if match := closing.match(line):
            groups = match.groupdict()
            return int(groups.get("passed") or 0), int(groups.get("failed") or 0)
    return 0, 0


def run(command):
    """Runs one command, shows its output as it comes, and counts. A command that fails has a failed test at least.

    Gives what passed, what failed, and the lines that name the failures.
    """
    print(f"$ {command}", flush=True)
    passed = failed = 0
    failures = []
    with subprocess.Popen(
        command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as child:
        for line in child.stdout:
            print(line, end="", flush=True)
            plain = COLOUR.sub("", line).rstrip()
            if FAILURE.search(plain) and plain not in failures:
                failures.append(plain)
            more_passed, more_failed = count(plain)
            passed += more_passed
            failed += more_failed
    if child.returncode != 0:
        failed = max(failed, 1)
    elif passed + failed == 0:
        print(f"{command}: ran no test")
        failed = 1
    return passed, failed, [f"$ {command}", *failures] if failed else []


def main():
    results = [run(command) for command in sys.argv[1:]]
    passed = sum(passed for passed, _, _ in results)
    failed = sum(failed for _, failed, _ in results)
    for line in [line for _, _, failures in results for line in failures]:
        print(f"failed: {line[:400]}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
