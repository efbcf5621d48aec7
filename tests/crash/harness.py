"""The Python harness of the crash test: `harness.py MANIFEST JOURNAL PREFIX`, as harness.rs has it."""

import itertools
import sys
import threading

import verifi

manifest, journal, prefix = sys.argv[1:]
run = verifi.Run(manifest, journal=journal)
kali = run.mcp("kali")


def call(thread):
    for number in itertools.count():
        kali.call(f"{prefix}-{thread}-{number}", {})


for thread in range(8):
    threading.Thread(target=call, args=[thread]).start()
