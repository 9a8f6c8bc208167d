"""Events of an execution: each once and in order, however often the stream breaks."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any

from ..errors import AgentError, to_error
from .call import Call, Connection
from .flow import Broken, Emit, Flow, Read, Reply, Request
from .partial import parse_partial
from .request import backoff, request, to_path, to_query, unexpected
from .runs import Run
from .sse import EventParser, SentEvent
from .values import as_object

EVENT_STREAM = "text/event-stream"
#: The service sends a comment after 15 seconds of silence.
MAX_SILENCE = 45.0
#: What a server may ask for with `retry`. It is not a failure: streams have no deadline unless the caller sets one.
MIN_RETRY, MAX_RETRY = 0.1, 60.0
#: Others are of a later version of the service, or of something in between.
EVENTS = ("status", "step", "tool", "waiting", "done", "delta", "reset")
#: The tool by which a model returns its output.
FINAL_ANSWER = "final_answer"
MAX_QUOTED_CHARACTERS = 80

Event = dict[str, Any]


def open_run_events(connection: Connection, call: Call, run: Run, after: str) -> Flow[Reply]:
    """Opens the stream of a run, or that of its execution once it is known."""
    if call.execution_id is not None:
        deltas = run.parameters.get("deltas")
        return (yield from open_events(connection, call, call.execution_id, after, deltas))
    spec = replace(run.to_request("sync", {"Accept": EVENT_STREAM}), max_silence=MAX_SILENCE)
    reply = yield from _open_stream(connection, call, spec)
    call.execution_id = reply.headers.get("x-execution-id")
    return reply


def open_events(connection: Connection, call: Call, execution_id: str, after: str, deltas: bool | None) -> Flow[Reply]:
    """Opens the stream of an execution after a step."""
    path = to_path("agent_executions", execution_id, "events") + to_query({"deltas": deltas})
    headers = {"Last-Event-ID": after, "Accept": EVENT_STREAM}
    return _open_stream(connection, call, Request("GET", path, headers, max_silence=MAX_SILENCE))


def _open_stream(connection: Connection, call: Call, spec: Request) -> Flow[Reply]:
    def read(reply: Reply) -> Flow[Reply]:
        if reply.headers.get("content-type", "").startswith(EVENT_STREAM):
            return reply
        raise unexpected(reply.status, "The response is not a stream of events.")
        yield  # A generator, as its caller expects.

    return request(connection, call, spec, read)


def read_events(connection: Connection, call: Call, open_at: Callable[[str], Flow[Reply]], after: str) -> Flow[None]:
    """Emits the events after a step. `open_at` requests those after a step, by its number."""
    live = _LiveReader(connection.loads)
    is_new = _NewEvents(int(after))
    position = after
    failures = 0
    while failures <= connection.max_retries:
        parser = EventParser()
        # A new stream begins with the response so far.
        for event in live.restart():
            yield Emit(event)
        reply = yield from open_at(position)
        while (part := (yield from _read_part(call, reply))) is not None:
            for sent in parser.push(part):
                if sent.event not in EVENTS:
                    continue
                failures = 0
                event = _parse_event(sent, connection, call)
                name, data = event["event"], event["data"]
                if name in ("delta", "reset"):
                    for each in live.take(event):
                        yield Emit(each)
                    continue
                if name == "step":
                    live.end()
                    position = position if sent.id is None else sent.id
                if name == "status" and call.execution_id is None:
                    call.execution_id = data.get("id")
                if is_new(event, sent.id):
                    yield Emit(event)
                if name == "done":
                    return
        failures += parser.retry is None
        seconds = backoff(failures) if parser.retry is None else min(max(parser.retry, MIN_RETRY), MAX_RETRY)
        yield from call.sleep(seconds)
    detail = f"The stream of events broke {connection.max_retries + 1} times in a row without an event."
    raise to_error({"code": "ConnectionFailed", "detail": detail})


def _read_part(call: Call, reply: Reply) -> Flow[bytes | None]:
    """The next bytes of a stream; None when it ends, breaks or stays silent."""
    try:
        part: bytes | None = yield Read(reply)
    except Broken:
        part = None
    call.check()
    return part


class _LiveReader:
    """Adds the output so far to the deltas."""

    def __init__(self, loads: Callable[[str], Any]) -> None:
        self._loads = loads
        self._at: tuple[Any, Any] | None = None
        #: The text, and the arguments of each call that returns an output.
        self._texts: dict[str, str] = {}

    def take(self, event: Event) -> Generator[Event]:
        """The event, and the output so far if it changes it."""
        yield event
        if event["event"] == "reset":
            return self.end()
        data = event["data"]
        at = (data.get("step"), data.get("try"))
        if at != self._at:
            self._texts.clear()
        self._at = at
        call = data.get("toolCall")
        if call and call.get("name") != FINAL_ANSWER:
            return
        key = str(call.get("id")) if call else ""
        piece = call.get("arguments") if call else data.get("text")
        self._texts[key] = self._texts.get(key, "") + str(piece or "")
        value = parse_partial(self._texts[key], self._loads)
        if value is not None:
            yield {"event": "partial", "data": value}

    def restart(self) -> Generator[Event]:
        """What is void when a stream breaks."""
        if self._at:
            yield {"event": "reset", "data": {"step": self._at[0], "try": self._at[1]}}
        self.end()

    def end(self) -> None:
        """A step supersedes its deltas."""
        self._at = None
        self._texts.clear()


def _parse_event(sent: SentEvent, connection: Connection, call: Call) -> Event:
    """Raises `UnexpectedResponse` if the data is not a JSON object."""
    cause: Exception | None = None
    try:
        data = as_object(connection.loads(sent.data))
        if data is not None:
            return {"event": sent.event, "data": data}
    except (ValueError, RecursionError) as error:
        cause = error
    name = sent.event if sent.id is None else f"{sent.event} {sent.id}"
    quoted = sent.data[:MAX_QUOTED_CHARACTERS]
    detail = f'The data of the event "{name}" is not a JSON object. It begins with: {quoted}'
    known = {} if call.execution_id is None else {"executionId": call.execution_id}
    failure: AgentError = to_error({"code": "UnexpectedResponse", "status": 200, "detail": detail, **known})
    raise failure from cause


class _NewEvents:
    """Whether an event is new: a stream that continues repeats the status, the last results and the waits."""

    def __init__(self, after: int) -> None:
        self._last_step = after
        self._last: dict[str, Any] = {}
        self._results: set[tuple[Any, ...]] = set()

    def __call__(self, event: Event, id: str | None) -> bool:
        name, data = event["event"], event["data"]
        if name == "step":
            number = int(id) if id and id.isdigit() else 0
            is_next = number > self._last_step
            self._last_step = max(number, self._last_step)
            return is_next
        if name == "tool":
            # The decision on a call comes before its result.
            result = (data.get("step"), data.get("id"), "durationMs" in data)
            is_first = result not in self._results
            self._results.add(result)
            return is_first
        if name in ("status", "waiting"):
            value = data.get("status" if name == "status" else "waitingFor")
            is_change = name not in self._last or self._last[name] != value
            self._last[name] = value
            return is_change
        return True
