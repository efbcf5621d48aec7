"""`blocking.py URL SECRETS`: verifi as it is called in Python. Of the calls that are under way at once each has a thread."""

import turns
import verifi


def main():
    url, secrets = turns.place()
    with verifi.Run({"runId": "bench", "slotFills": {"kali": url}}, secrets=secrets) as run:
        kali = run.mcp("kali")

        def call(tool):
            result = kali.call(tool, {"n": 1})
            if not result.ok:
                raise RuntimeError(result.error)
            return result.text

        turns.take(call)


main()
