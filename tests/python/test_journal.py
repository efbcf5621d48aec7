"""The journal from Python: written by a run, read without one."""

import json
import os
from pathlib import Path

import pytest
import verifi


def calls(server, path, run_id="r1"):
    manifest = {"runId": run_id, "endpoints": {"kali": server.url}}
    with verifi.Run(manifest, journal=path, secrets=["hunter22"]) as run:
        assert run.mcp("kali").call("echo", {"text": "hunter22"}).ok
        return run.ledger()


# Rules 4.4, 4.5, 5.2.
def test_a_run_writes_its_journal_and_it_can_be_read(serve, tmp_path: Path):
    server = serve()
    path = tmp_path / "run.jsonl"
    ledger = calls(server, path)
    assert ledger["toolCalls"] == 1
    events = list(verifi.read_journal(path))
    assert [event["kind"] for event in events] == ["run_started", "call_started", "call_finished", "run_finished"]
    assert [event["seq"] for event in events] == [1, 2, 3, 4]
    found = verifi.verify_journal(os.fspath(path))
    assert (found["events"], found["ok"], found["missing"]) == (4, True, 0)
    assert "fault" not in found
    assert b"hunter22" not in path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600


# Rule 4.5.
def test_a_journal_is_gone_on_with_by_its_own_run_alone(serve, tmp_path: Path):
    server = serve()
    path = tmp_path / "run.jsonl"
    calls(server, path)
    assert calls(server, path)["toolCalls"] == 2
    with pytest.raises(verifi.JournalError, match="run"):
        calls(server, path, "another")
    with verifi.Run({"runId": "r1"}, journal=path):
        with pytest.raises(verifi.JournalError, match="in use"):
            verifi.Run({"runId": "r1"}, journal=path)


# Rule 4.5.
def test_a_broken_journal_is_told_with_its_line(serve, tmp_path: Path):
    server = serve()
    path = tmp_path / "run.jsonl"
    calls(server, path)
    lines = path.read_text("utf-8").splitlines(keepends=True)
    lines[2] = lines[2].replace('"echo"', '"ech0"')
    path.write_text("".join(lines), "utf-8")
    found = verifi.verify_journal(path)
    assert not found["ok"]
    assert found["fault"]["line"] in (3, 4), json.dumps(found)
    with pytest.raises(verifi.JournalError) as error:
        list(verifi.read_journal(path))
    assert (error.value.kind, error.value.code) == ("journal", 5)
    with pytest.raises(verifi.JournalError):
        verifi.Run({"runId": "r1"}, journal=path)


# Rule 4.6.
@pytest.mark.parametrize("journal", ["missing/run.jsonl", "."])
def test_a_journal_that_cannot_be_opened_is_an_error(journal, tmp_path: Path):
    with pytest.raises(verifi.JournalError):
        verifi.Run({"runId": "r1"}, journal=tmp_path / journal)
    with pytest.raises(verifi.JournalError):
        verifi.read_journal(tmp_path / journal)
