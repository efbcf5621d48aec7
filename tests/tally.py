"""Runs test commands one after another and ends with their sum: `tally.py COMMAND...`.

All of them run, whatever fails. The last line is `N passed, N failed`; the status is 1 unless every test passed.
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
COLOUR = re.compile(r"\x1b\[[\d;]*m")


def count(line):
    """The tests that a line of output speaks of: passed and failed."""
    for closing in CLOSINGS:
        if match := closing.match(COLOUR.sub("", line)):
            groups = match.groupdict()
            return int(groups.get("passed") or 0), int(groups.get("failed") or 0)
    return 0, 0


def run(command):
    """Runs one command, shows its output as it comes, and counts. A command that fails has a failed test at least."""
    print(f"$ {command}", flush=True)
    passed = failed = 0
    with subprocess.Popen(
        command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as child:
        for line in child.stdout:
            print(line, end="", flush=True)
            more_passed, more_failed = count(line)
            passed += more_passed
            failed += more_failed
    if child.returncode != 0:
        failed = max(failed, 1)
    elif passed + failed == 0:
        print(f"{command}: ran no test")
        failed = 1
    return passed, failed


def main():
    results = [run(command) for command in sys.argv[1:]]
    passed = sum(passed for passed, _ in results)
    failed = sum(failed for _, failed in results)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
