"""Arguments, results and errors."""

import json
import pickle
import sys
from decimal import Decimal

import pytest

import verifi


def sent(server):
    return [request["text"] for request in server.requests("tools/call")]


# Rules 2.1, 2.2.
def test_integers_of_any_size_survive_both_ways(serve):
    number = -(10**300) - 7
    answer = f'{{"content":[],"structuredContent":{{"n":{number},"x":1.5}}}}'
    server = serve({"rules": [{"on": {"tool": "count"}, "do": [{"result": json.loads(answer, parse_int=str)}]}]})
    with verifi.Run(server.manifest()) as run:
        run.mcp("kali").call("count", {"n": number, "nested": [{"m": 2**64}]})
    assert f'"n":{number}' in sent(server)[0].replace(" ", "")
    assert f'"m":{2**64}' in sent(server)[0].replace(" ", "")


# Rule 2.2.
def test_raw_keeps_every_digit(serve):
    number = 10**40 + 1
    head = {"type": "application/json"}
    body = f'{{"jsonrpc":"2.0","id":{{{{id}}}},"result":{{"content":[],"big":{number},"small":1.10}}}}'
    rule = {"on": {"tool": "count"}, "do": [{"answer": {**head, "body": body}}]}
    server = serve({"rules": [rule]})
    with verifi.Run(server.manifest()) as run:
        result = run.mcp("kali").call("count")
    assert result.ok
    assert result.raw == {"content": [], "big": number, "small": 1.1}
    assert f'"big":{number},"small":1.10' in result.raw_json
    assert result.raw is result.raw


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"ports": {80, 443}}, "set is not JSON serializable"),
        ({"x": float("nan")}, "not JSON compliant"),
        ({"x": float("inf")}, "not JSON compliant"),
        ({(1, 2): "x"}, "keys must be"),
        ({"x": Decimal("1.1")}, "Decimal is not JSON serializable"),
        ({"x": b"bytes"}, "bytes is not JSON serializable"),
        ([1, 2], "not a JSON object"),
        ("text", "not a JSON object"),
        (17, "not a JSON object"),
    ],
)
# Rule 2.1.
def test_what_is_no_json_object_is_rejected_and_nothing_is_raised(kali, run, server, arguments, says):
    result = kali.call("echo", arguments)
    assert (result.ok, result.is_error, result.outcome, result.server) == (False, False, "rejected", None)
    assert says in result.error
    assert server.requests("tools/call") == []
    assert run.ledger()["toolCalls"] == 0
    assert run.events()[-1]["kind"] == "tool_error"


# Rule 2.1.
def test_no_value_of_any_argument_raises(kali):
    class Angry(dict):
        def items(self):
            raise RuntimeError("no")

    deep = {}
    # Deeper than any Python goes, whatever it takes for its limit.
    for _ in range(100_000):
        deep = {"d": deep}
    circle = {}
    circle["self"] = circle
    for call in [
        lambda: kali.call("echo", deep),
        lambda: kali.call("echo", circle),
        lambda: kali.call("echo", Angry(a=1)),
        lambda: kali.call(None),
        lambda: kali.call(b"echo"),
        lambda: kali.call("\ud800"),
        lambda: kali.call("echo", timeout=-1),
        lambda: kali.call("echo", timeout=float("nan")),
        lambda: kali.call("echo", timeout="soon"),
        lambda: kali.call("echo", on_progress=3),
    ]:
        assert call().outcome == "rejected"


# Rule 2.1.
def test_whatever_json_dumps_takes_is_sent(kali, server):
    arguments = {
        "text": "grüße \U0001f600 \x00\x7f\u2028",
        "list": (1, 2.5, None, True),
        7: "number as key",
        "empty": {},
    }
    kali.call("echo", arguments)
    assert json.loads(sent(server)[0])["params"]["arguments"] == json.loads(json.dumps(arguments))


# Rule 2.1.
def test_half_of_a_surrogate_pair_is_sent_as_json_says_it(kali, server):
    # The scripted server is strict and does not read it.
    assert kali.call("echo", {"half": "\ud83d", "text": "ü"}).outcome == "refused"
    texts = [request["text"] for request in server.command(do="record")["requests"]]
    assert any('"half": "\\ud83d"' in text for text in texts)


# Rule 2.5.
def test_timeout_is_in_seconds(kali):
    result = kali.call("slow", {"ms": 10_000}, timeout=0.2)
    assert result.outcome == "timed_out"
    assert "tool call timed out after 200 ms" in result.error
    assert 190 < result.latency_ms < 2000
    assert kali.call("echo", timeout=float("inf")).ok


# Rule 2.8.
def test_progress_is_reported(kali):
    reported = []
    assert kali.call("progress", {"n": 3}, on_progress=reported.append).ok
    assert [type(progress) for progress in reported] == [verifi.Progress] * len(reported)
    assert reported and reported[0].progress < reported[-1].progress


# Rules 2.1, 2.8.
def test_a_progress_callback_that_raises_fails_no_call(kali, monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "unraisablehook", seen.append)

    def callback(progress):
        raise ValueError("mine")

    assert kali.call("progress", {"n": 2}, on_progress=callback).ok
    assert {str(report.exc_value) for report in seen} == {"mine"}
    assert all(report.object is callback for report in seen)


# Rule 2.2.
def test_a_result_is_immutable_and_can_be_pickled(kali):
    result = kali.call("echo", {"text": "hi"})
    with pytest.raises(AttributeError):
        result.ok = False
    with pytest.raises(TypeError):
        verifi.ToolResult()
    again = pickle.loads(pickle.dumps(result))
    names = ["ok", "text", "is_error", "latency_ms", "error", "outcome", "server", "may_have_run", "redactions", "raw"]
    assert [getattr(again, name) for name in names] == [getattr(result, name) for name in names]
    assert again.raw_json == result.raw_json


# Rules 5.2, 5.6.
def test_no_repr_and_no_error_shows_a_secret(server):
    secret = "hunter2-hunter2"
    manifest = server.manifest()
    manifest["slotFills"]["kali"] = {"endpoint": server.url + "?key=abc123", "headers": {"x-api-key": secret}}
    with verifi.Run(manifest, secrets=["s3cr3t-value"]) as run:
        kali = run.mcp("kali")
        result = kali.call("echo", {"text": f"{secret} s3cr3t-value"})
        shown = repr([run, kali, result, kali.call("nope " + secret), verifi.Redactor([secret])])
    assert result.redactions == 2
    assert "[REDACTED]" in shown
    assert secret not in shown and "s3cr3t" not in shown and "abc123" not in shown


# Rules 1.1, 1.2, 3.10.
def test_errors_have_a_kind_and_a_code(server, kali, run):
    with pytest.raises(verifi.ManifestError, match="slotFills.kali") as manifest:
        verifi.Run({"runId": "r", "slotFills": {"kali": 3}})
    with pytest.raises(verifi.ManifestError, match="not JSON"):
        verifi.Run({"runId": {1, 2}})
    with pytest.raises(verifi.SlotNotFilledError, match="Filled slots: kali") as slot:
        run.mcp("burp")
    run.close()
    with pytest.raises(verifi.ListToolsError, match="tools/list failed: the run is closed") as tools:
        kali.list_tools()
    with pytest.raises(verifi.OptionsError) as options:
        verifi.Run(server.manifest(), timeout=0)
    found = [(error.value.kind, error.value.code) for error in (manifest, options, slot, tools)]
    assert found == [("manifest", 1), ("options", 2), ("slot_not_filled", 3), ("list_tools", 4)]
    assert all(isinstance(error.value, verifi.VerifiError) for error in (manifest, options, slot, tools))


# Rules 2.5, 2.7, 6.5, 6.7.
@pytest.mark.parametrize(
    ("option", "says"),
    [
        ({"timeout": 0}, "timeout: must be more than zero"),
        ({"timeout": "5"}, "timeout: must be a number of seconds"),
        ({"timeout": float("nan")}, "timeout: must be more than zero"),
        ({"retry_primary_after": -1}, "retry_primary_after: must be more than zero"),
        ({"max_response_bytes": 0}, "max_response_bytes: "),
        ({"elicitation": "ask"}, "elicitation: "),
        ({"replay": "never"}, "replay: "),
        ({"secrets": "hunter2"}, "secrets: "),
        ({"secrets": [3]}, "secrets"),
    ],
)
def test_options_that_are_none_are_named_as_they_were_given(option, says):
    with pytest.raises(verifi.OptionsError) as error:
        verifi.Run({"runId": "r", "slotFills": {}}, **option)
    assert str(error.value).startswith(says)


# Rule 3.10.
def test_definitions_are_plain_dicts(kali):
    tools = kali.tool_definitions()
    assert all(type(tool) is dict and "inputSchema" in tool for tool in tools)
    assert [tool["name"] for tool in tools] == kali.list_tools()


# Rules 1.3, 2.1.
def test_a_slot_is_the_same_each_time_and_outlives_the_name_of_its_run(server):
    run = verifi.Run(server.manifest())
    assert run.mcp("kali") is run.mcp("kali")
    kali = run.mcp("kali")
    del run
    assert kali.call("echo").ok


# Rules 5.3, 5.6.
def test_the_environment_may_hold_any_bytes():
    env = {"MY_TOKEN": "\udcff\udcfeabcdef", "HOME": "/root", "API_KEY": "k-123456"}
    assert verifi.collect_run_secrets(env) == ["k-123456", "\ufffd\ufffdabcdef"]


# Rules 5.1, 5.5.
def test_redaction_without_a_run():
    assert verifi.redact("user hunter2 hunter2", ["hunter2"]) == "user [REDACTED] [REDACTED]"
    redactor = verifi.Redactor(["p@ss/word"])
    assert redactor.redact("GET /?key=p%40ss%2Fword") == "GET /?key=[REDACTED]"
    with pytest.raises(TypeError):
        verifi.redact("text", "hunter2")
