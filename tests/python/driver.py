"""The Python face as the scenarios see it: commands by line, answers by line."""

import asyncio
import json
import queue
import sys
import threading
import time

import verifi

OPTIONS = {
    "timeoutMs": ("timeout", 0.001),
    "maxResponseBytes": ("max_response_bytes", None),
    "secrets": ("secrets", None),
    "elicitation": ("elicitation", None),
    "replay": ("replay", None),
    "retryPrimaryAfterMs": ("retry_primary_after", 0.001),
    "journal": ("journal", None),
    "sync": ("sync", None),
}
FIELD = {"\\t": "\t", "\\n": "\n", "\\r": "\r", "\\0": "\0", "\\\\": "\\"}


class Unsupported(Exception):
    """Python cannot say it."""


def unescape(field):
    parts = field.split("\\\\")
    for escape, character in FIELD.items():
        if escape != "\\\\":
            parts = [part.replace(escape, character) for part in parts]
    return "\\".join(parts)


def text(value):
    return json.dumps(value, ensure_ascii=False)


def result_text(result):
    """In the names of the core, `raw` as it came."""
    members = {
        "ok": result.ok,
        "text": result.text,
        "isError": result.is_error,
        "latencyMs": result.latency_ms,
        "error": result.error,
        "outcome": result.outcome,
        "server": result.server,
        "mayHaveRun": result.may_have_run,
        "redactions": result.redactions,
    }
    parts = [f"{text(name)}:{text(value)}" for name, value in members.items() if value is not None]
    if result.raw_json is not None:
        parts.append(f'"raw":{result.raw_json}')
    return "{" + ",".join(parts) + "}"


def exact(number):
    """A float keeps its value, not the way in which it was written."""
    if repr(float(number)) != number:
        raise Unsupported
    return float(number)


class Request:
    """A call: TOOL ARGS TIMEOUT_MS PROGRESS."""

    def __init__(self, tool, arguments, timeout, progress):
        try:
            self.arguments = json.loads(arguments, parse_float=exact) if arguments else None
        except ValueError:
            raise Unsupported from None
        self.tool = tool
        self.options = {}
        self.reported = [] if progress else None
        if timeout:
            self.options["timeout"] = int(timeout) / 1000
        if progress:
            self.options["on_progress"] = self.note

    def note(self, progress):
        members = progress._asdict()
        self.reported.append({name: value for name, value in members.items() if value is not None})

    def answer(self, result):
        progress = "" if self.reported is None else f',"progress":{text(self.reported)}'
        return f'{{"ok":{result_text(result)}{progress}}}'


class Driver:
    def __init__(self):
        self.started = {}
        self.events = queue.Queue()
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def answer(self, command, *fields):
        method = getattr(self, f"do_{command}", None)
        if method is None:
            return '{"unsupported":true}'
        try:
            answer = method(*fields)
        except Unsupported:
            return '{"unsupported":true}'
        except verifi.VerifiError as error:
            return text({"error": {"kind": error.kind, "message": str(error)}})
        return answer if answer.startswith('{"ok":') else f'{{"ok":{answer}}}'

    def awaited(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop)

    def do_open(self, manifest, options):
        given = {}
        for name, value in json.loads(options or "{}").items():
            if name not in OPTIONS:
                raise Unsupported
            keyword, factor = OPTIONS[name]
            given[keyword] = value * factor if factor and isinstance(value, (int, float)) else value
        self.run = verifi.Run(manifest, **given)
        self.run.subscribe(self.events.put)
        return "true"

    def do_version(self, *_):
        return text({"sdk": verifi.SDK_VERSION, "version": verifi.__version__})

    def do_redact(self, given, secrets):
        return text(verifi.redact(given, json.loads(secrets)))

    def do_collect(self, env):
        return text(verifi.collect_run_secrets(json.loads(env)))

    def do_slot(self, name):
        slot = self.run.mcp(name)
        return text({"name": slot.name, "endpoint": slot.endpoint})

    def do_health(self, name):
        return text(self.run.mcp(name).health())

    def do_call(self, name, *request):
        request = Request(*request)
        return request.answer(self.run.mcp(name).call(request.tool, request.arguments, **request.options))

    def do_start(self, id, name, tool, arguments, timeout, progress, form):
        slot, request = self.run.mcp(name), Request(tool, arguments, timeout, progress)
        results = queue.Queue()
        self.started[id] = request, results
        if form == "awaited":
            call = self.awaited(slot.call_async(request.tool, request.arguments, **request.options))
            call.add_done_callback(lambda call: results.put(call.result()))
        else:
            call = lambda: results.put(slot.call(request.tool, request.arguments, **request.options))  # noqa: E731
            threading.Thread(target=call, daemon=True).start()
        return "true"

    def do_wait(self, id, limit):
        request, results = self.started[id]
        try:
            return request.answer(results.get(timeout=int(limit) / 1000))
        except queue.Empty:
            return "null"

    def do_list(self, name, form):
        slot = self.run.mcp(name)
        return text(self.awaited(slot.list_tools_async()).result() if form == "awaited" else slot.list_tools())

    def do_definitions(self, name, form):
        slot = self.run.mcp(name)
        waits = form != "awaited"
        return text(slot.tool_definitions() if waits else self.awaited(slot.tool_definitions_async()).result())

    def do_verify(self, path):
        return text(verifi.verify_journal(path))

    def do_read(self, path):
        return text(list(verifi.read_journal(path)))

    def do_ledger(self, *_):
        return text(self.run.ledger())

    def do_events(self, *_):
        return text(self.run.events())

    def do_await_event(self, kind, limit):
        end = time.monotonic() + int(limit) / 1000
        try:
            while True:
                event = self.events.get(timeout=max(0, end - time.monotonic()))
                if event["kind"] == kind:
                    return text(event)
        except queue.Empty:
            return "null"

    def do_log(self, line):
        self.run.log(line)
        return "true"

    def do_close(self, *_):
        self.run.close()
        return "true"


def main():
    driver = Driver()
    sys.stdin.reconfigure(encoding="utf-8", newline="\n")
    sys.stdout.reconfigure(encoding="utf-8")
    for line in sys.stdin:
        print(driver.answer(*map(unescape, line.rstrip("\n").split("\t"))), flush=True)


main()
