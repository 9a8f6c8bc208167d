"""Runs: however often their requests are repeated, one call is one execution."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ..errors import AgentError, ClientTimeout, to_error
from .call import ABORTS, Call, Connection, check_header
from .flow import Broken, Flow, Invoke, Reply, Request
from .request import read_json, read_retry_after, request, request_json, to_path, to_query, unexpected
from .values import as_list, as_object

T = TypeVar("T")
OnWaiting = Callable[[Any, Any], Any]
#: A synchronous run is silent for at most 270 seconds.
MAX_RUN_SILENCE = 300
#: `Prefer: wait` of the first read, and the longest that the service accepts.
FIRST_WAIT_SECONDS = 2
MAX_WAIT_SECONDS = 25
#: Between two reads, if the service does not tell.
PAUSE_SECONDS = 1.0
#: For cancelling an execution whose caller has given up.
CANCEL_TIMEOUT = 10.0


@dataclass(frozen=True)
class Run:
    """The request of a run. All requests of one call have the same key, so that they lead to one execution."""

    agent: str
    body: bytes
    key: str
    parameters: Mapping[str, Any]

    def to_request(self, mode: str, headers: Mapping[str, str] | None = None) -> Request:
        """The request, synchronous or asynchronous."""
        query = to_query({**self.parameters, "exec_mode": mode})
        all_headers = {"Content-Type": "application/json", "Idempotency-Key": self.key, **(headers or {})}
        path = to_path("agents", self.agent, "executions") + query
        return Request("POST", path, all_headers, self.body, MAX_RUN_SILENCE if mode == "sync" else 60)


def new_key(key: str | None) -> str:
    """The idempotency key of the caller, or a new one. Raises ValueError for what no header can have."""
    if key is None:
        return secrets.token_hex(16)
    check_header("idempotency_key", key)
    return key


def start_run(connection: Connection, call: Call, run: Run) -> Flow[Any]:
    """The execution, at once."""
    return request_json(connection, call, run.to_request("async"))


def run_to_end(connection: Connection, call: Call, run: Run, on_waiting: OnWaiting | None) -> Flow[Any]:
    """Runs synchronously, and waits for the execution if it outlives the request or is suspended."""

    def read(reply: Reply) -> Flow[tuple[bool, Any]]:
        call.execution_id = reply.headers.get("x-execution-id")
        value = None if reply.status == 202 and call.execution_id else (yield from read_json(connection, call, reply))
        if reply.status != 202:
            return True, value
        known = call.execution_id or (as_object(value) or {}).get("id")
        if not known:
            raise unexpected(202, "The response does not name the execution.")
        return False, str(known)

    first_wait = FIRST_WAIT_SECONDS
    try:
        is_output, value = yield from request(connection, call, run.to_request("sync"), read)
        if is_output:
            return value
        first_wait = 0
    except AgentError as error:
        # The run continues without its request.
        if error.code not in ("ExecutionStillRunning", "ExecutionInProgress") or error.execution_id is None:
            raise
        value = error.execution_id
    execution = yield from wait_for_end(connection, call, value, on_waiting, first_wait)
    return execution["output"]


def wait_for_end(
    connection: Connection,
    call: Call,
    execution_id: str,
    on_waiting: OnWaiting | None,
    wait_seconds: int = FIRST_WAIT_SECONDS,
) -> Flow[Any]:
    """
    Reads the execution whenever the service asks for it (`Retry-After`): a read is cheaper than a request that waits.
    The service waits (`Prefer: wait`) for runs that end at once, and when the deadline leaves no time for a pause.
    """
    call.execution_id = execution_id
    reported: Any = None
    while True:
        started_at = call.remaining
        pause: float | None = None

        def read(reply: Reply) -> None:
            nonlocal pause
            pause = read_retry_after(reply.headers)

        headers = {"Prefer": f"wait={wait_seconds}"} if wait_seconds > 0 else {}
        spec = Request("GET", to_path("agent_executions", execution_id), headers)
        execution = as_object((yield from request_json(connection, call, spec, read))) or {}
        status = execution.get("status")
        if status == "SUCCESS":
            return execution
        if status == "ERROR":
            raise _execution_failed(execution)
        if status != "IN_PROGRESS":
            raise unexpected(200, "The response is not an execution.")
        waits = execution.get("waitingFor")
        if on_waiting and waits and waits != reported:
            try:
                yield Invoke(on_waiting, (waits, execution), call.remaining)
            except Broken as broken:
                call.check()
                raise broken.__cause__ or broken from None
            call.check()
        reported = waits or reported
        seconds = PAUSE_SECONDS if pause is None else pause
        has_time = seconds < call.remaining
        wait_seconds = 0 if has_time else min(math.ceil(max(call.remaining, 0)), MAX_WAIT_SECONDS)
        # A service that does not wait is not asked without a pause.
        spent = 0.0 if math.isinf(started_at) else started_at - call.remaining
        yield from call.sleep(seconds if has_time else max(PAUSE_SECONDS - spent, 0))


def _execution_failed(execution: Any) -> AgentError:
    """The same error as that of a synchronous run."""
    error = as_object(execution.get("error")) or {}
    members = {"executionId": execution.get("id"), "error": error}
    errors = as_list(error.get("errors" if error.get("code") == "AgentFailed" else "inputErrors"))
    if errors:
        detail = f"The agent failed on input that does not match its schema: {error.get('message')}"
        return to_error({"code": "InputSchemaMismatch", "status": 422, "detail": detail, "errors": errors, **members})
    detail = f"The execution ended in ERROR: {error.get('message')}"
    return to_error({"code": "ExecutionFailed", "status": 500, "detail": detail, **members})


def cancelling(
    connection: Connection, call: Call, cancel_on_abort: bool, run: Run | None, work: Flow[T]
) -> Flow[T]:
    """
    Does work that waits for an execution, and cancels it if the call is aborted, as far as possible. The key of a run
    whose response has not arrived leads to its execution; if no request reached the service, to a new one.
    """
    try:
        return (yield from work)
    except (ClientTimeout, *ABORTS):
        if cancel_on_abort:
            try:
                last = connection.open(CANCEL_TIMEOUT)
                known = call.execution_id
                if known is None and run is not None:
                    known = (yield from start_run(connection, last, run))["id"]
                if known is not None:
                    path = to_path("agent_executions", known, "cancel")
                    yield from request_json(connection, last, Request("POST", path))
            except (AgentError, KeyError, TypeError):
                pass  # What the caller gets says why the call has ended.
        raise
