"""Memory, over many calls."""

import gc

import verifi


def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096


# Rule 2.7.
def test_memory_does_not_grow_with_the_number_of_calls(serve):
    server = serve({"prebuilt": {"bytes": 10_000}})
    with verifi.Run(server.manifest()) as run:
        kali = run.mcp("kali")
        for n in range(20_000):
            result = kali.call("scan", {"n": n})
            assert len(result.text) == 10_000
            if n % 100 == 0:
                assert len(result.raw["content"][0]["text"]) == 10_000
            if n == 5_000:
                gc.collect()
                before = resident()
        gc.collect()
        assert resident() - before < 4_000_000
