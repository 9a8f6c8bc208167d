"""Batches, one after another: few inputs and results are in memory, and one cost limit holds for all."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import AgentError
from .call import Call, Connection
from .flow import END, Broken, Emit, Flow, Invoke, Next, Reply, Request
from .request import (
    next_query,
    parse_body,
    read_bytes,
    read_retry_after,
    request,
    request_json,
    to_path,
    to_query,
    unexpected,
)
from .values import as_object

#: Limits of one batch. The bytes are those of the body in the event of a Lambda function, where JSON escapes it.
MAX_LINES = 10_000
MAX_BYTES = 5_900_000
#: The most of a page. A stream of all results would have to begin again when it breaks.
PAGE_SIZE = 1_000
#: Between two reads, if the service does not tell.
PAUSE_SECONDS = 2.0
#: The least `maxBatchCostUsd` of the service.
MIN_COST_USD = 0.000_001

OnProgress = Callable[[Any], Any]


@dataclass
class _Parts:
    """Takes the inputs of one batch after another: always the same ones. An input above the limit is alone."""

    iterator: Any
    dumps: Callable[[Any], str]
    index: int = 0
    is_named: bool | None = None
    #: The line that did not fit: its text, its name and its size.
    rest: list[tuple[str, str, int]] = field(default_factory=lambda: list[tuple[str, str, int]]())

    def take(self, call: Call) -> Flow[tuple[str, list[str]] | None]:
        lines, self.rest = self.rest, []
        size = sum(length for _, _, length in lines)
        while True:
            item: Any = yield Next(self.iterator, call.remaining)
            call.check()
            if item is END:
                break
            line = self._to_line(item)
            if lines and (len(lines) == MAX_LINES or size + line[2] > MAX_BYTES):
                self.rest = [line]
                break
            lines.append(line)
            size += line[2]
        return ("".join(text for text, _, _ in lines), [name for _, name, _ in lines]) if lines else None

    def _to_line(self, item: Any) -> tuple[str, str, int]:
        if self.is_named is None:
            self.is_named = {"customId", "input"} <= (as_object(item) or {}).keys()
        line: Any = item if self.is_named else {"customId": str(self.index), "input": item}
        self.index += 1
        text = self.dumps(line) + "\n"
        name = str((as_object(line) or {}).get("customId"))
        return text, name, len(json.dumps(text, ensure_ascii=False).encode())


def run_batches(
    connection: Connection,
    call: Call,
    agent: str,
    iterator: Any,
    key: str,
    parameters: Mapping[str, Any],
    on_progress: OnProgress | None,
    on_started: Callable[[str], None],
) -> Flow[None]:
    """Emits the results of all inputs in their order. `on_started` gets the ID of each batch."""
    parts = _Parts(iterator, connection.dumps)
    budget: float | None = parameters.get("max_batch_cost_usd")
    lines = 0
    while (part := (yield from parts.take(call))) is not None:
        body, names = part
        if budget is not None and budget < MIN_COST_USD and lines > 0:
            for name in names:
                yield Emit(_over_budget(name))
        else:
            # The same key again for the first batch, so that one that is repeated with it is found.
            spec = batch_request(agent, body, key if lines == 0 else f"{key}-{lines}", {**parameters, "max_batch_cost_usd": budget})
            try:
                record = yield from request_json(connection, call, spec)
            except AgentError as error:
                _renumber(error, lines)
                raise
            # Without an ID, the lines were only checked.
            if record.get("id"):
                on_started(record["id"])
                batch = yield from wait_for_batch(connection, call, record["id"], on_progress)
                budget = None if budget is None else budget - batch["costUsd"]
                yield from emit_results(connection, call, batch["id"], batch["lines"])
        lines += len(names)


def batch_request(agent: str, body: str, key: str, parameters: Mapping[str, Any]) -> Request:
    """Starts a batch of lines."""
    headers = {"Content-Type": "application/x-ndjson", "Idempotency-Key": key}
    return Request("POST", to_path("agents", agent, "batches") + to_query(parameters), headers, body.encode())


def wait_for_batch(connection: Connection, call: Call, id: str, on_progress: OnProgress | None) -> Flow[Any]:
    """Reads the batch whenever the service asks for it (`Retry-After`)."""
    while True:
        pause: float | None = None

        def read(reply: Reply) -> None:
            nonlocal pause
            pause = read_retry_after(reply.headers)

        spec = Request("GET", to_path("batches", id))
        batch = as_object((yield from request_json(connection, call, spec, read))) or {}
        if "status" not in batch:
            raise unexpected(200, "The response is not a batch.")
        if on_progress:
            yield Invoke(on_progress, (batch,), call.remaining)
        if batch["status"] == "ENDED":
            return batch
        yield from call.sleep(PAUSE_SECONDS if pause is None else pause)


def emit_results(connection: Connection, call: Call, id: str, lines: int) -> Flow[None]:
    """Emits the results of a batch in the order of its lines, each once. A page that breaks is read again."""
    query: str | None = f"?limit={PAGE_SIZE}"
    count = 0
    while query is not None:
        following: str | None = None

        def read(reply: Reply) -> Flow[list[Any]]:
            nonlocal following
            following = next_query(reply.headers)
            text = (yield from read_bytes(call, reply)).decode("utf-8", "replace")
            results = [parse_body(connection, reply.status, line) for line in text.split("\n") if line]
            # Where nothing else tells that the last page is incomplete.
            if not following and count + len(results) < lines:
                raise Broken("Results are missing.")
            return results

        page = yield from request(connection, call, Request("GET", to_path("batches", id, "results") + query), read)
        count += len(page)
        for result in page:
            yield Emit(result)
        query = following


def _over_budget(name: str) -> dict[str, Any]:
    message = "The batches before it have reached the cost limit."
    error = {"code": "BudgetExceeded", "message": message}
    return {"customId": name, "executionId": None, "status": "ERROR", "output": None, "error": error}


def _renumber(error: AgentError, lines_before: int) -> None:
    """Numbers the lines of an error from the first input on."""
    for violation in error.errors:
        line = violation.get("line")
        if isinstance(line, int):
            violation["line"] = line + lines_before
            violation["message"] = str(violation.get("message")).replace(f"Line {line}:", f"Line {line + lines_before}:")
