"""Runs of agents with the client that openapi-python-client generates: waiting, safe retries, and errors by their code."""

import inspect
import random
import time
import uuid
from collections.abc import Callable
from typing import Any
from uuid import UUID

import httpx
from agent_execution_service_client import AuthenticatedClient
from agent_execution_service_client.api.agents import get_execution, run_agent
from agent_execution_service_client.models import Execution, Problem, RunAgentBody, RunAgentExecMode
from agent_execution_service_client.types import UNSET, Response, Unset

MAX_ATTEMPTS = 5
RETRYABLE_STATUSES = (408, 429, 502, 503)
PAUSE_SECONDS = 1.0  # Between two reads, if the service does not tell.
UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, RecursionError)  # What the generated client raises for a strange body.
TIMEOUT = httpx.Timeout(10, read=300)  # A synchronous run can take 270 seconds.


class AgentError(Exception):
    """
    An error of the service. Branch on `code`; the text is for people. `problem` has all members (RFC 9457).

    Two codes are of this module, with the reason in `__cause__`: ConnectionFailed (no response) and UnexpectedResponse (not what
    the service sends, for example the page of a proxy).
    """

    def __init__(self, problem: dict[str, Any]):
        super().__init__(f"{problem['code']}: {problem['detail']}")
        self.problem = problem
        self.code: str = problem["code"]
        self.status: int = problem["status"]


def connect(base_url: str, token: str) -> AuthenticatedClient:
    return AuthenticatedClient(base_url=base_url, token=token, timeout=TIMEOUT)


def run(client: AuthenticatedClient, agent: str, input: Any, **parameters: Any) -> Any:
    """Run an agent and return its output, also if the run waits. `parameters` are those of `run_agent.sync`."""
    try:
        output, status = _post(client, agent, input, RunAgentExecMode.SYNC, parameters)
    except AgentError as error:
        # The run continues without a caller: after 270 seconds, or when a retry found the first request still running.
        if error.code not in ("ExecutionStillRunning", "ExecutionInProgress"):
            raise
        if "executionId" not in error.problem:
            raise
        return wait(client, error.problem["executionId"])
    # 202: it is suspended, and this is its record.
    return wait(client, output["id"]) if status == 202 else output


def start(client: AuthenticatedClient, agent: str, input: Any, **parameters: Any) -> Execution:
    """Start an asynchronous run and return its execution at once."""
    record, _ = _post(client, agent, input, RunAgentExecMode.ASYNC, parameters)
    try:
        return Execution.from_dict(record)
    except UNREADABLE as error:  # Also a cached execution, whose status is 200, is not checked before.
        raise _unexpected(error) from error


def wait(client: AuthenticatedClient, execution_id: UUID | str) -> Any:
    """
    Wait until an execution is final and return its output. Raise AgentError if it ended in ERROR.

    A read whenever the service asks for it is cheaper than a request that waits. Only the first one waits, for runs that end at once.
    """
    id = UUID(str(execution_id))
    prefer: str | Unset = "wait=2"
    while True:
        execution, retry_after, _ = _send(get_execution.sync_detailed, id, client=client, prefer=prefer)
        if execution["status"] == "SUCCESS":
            return execution["output"]
        if execution["status"] == "ERROR":
            try:
                failure = _execution_failed(execution)
            except UNREADABLE as error:
                raise _unexpected(error) from error
            raise failure
        prefer = UNSET
        time.sleep(retry_after or PAUSE_SECONDS)


def _post(
    client: AuthenticatedClient, agent: str, input: Any, mode: RunAgentExecMode, parameters: dict[str, Any]
) -> tuple[Any, int]:
    """Return the body and the status. All attempts have one idempotency key, so that they lead to one execution."""
    options = {"idempotency_key": str(uuid.uuid4()), **parameters}
    body = RunAgentBody.from_dict(input)
    output, _, status = _send(run_agent.sync_detailed, agent, client=client, body=body, exec_mode=mode, **options)
    return output, status


def _execution_failed(execution: dict[str, Any]) -> AgentError:
    """The error that a synchronous run responds with."""
    error = execution["error"]
    members = {"detail": error["message"], "executionId": execution["id"], "error": error}
    errors = error.get("errors" if error["code"] == "AgentFailed" else "inputErrors")
    if errors:  # The agent failed on input that does not match its schema.
        return AgentError({"code": "InputSchemaMismatch", "status": 422, "errors": errors, **members})
    return AgentError({"code": "ExecutionFailed", "status": 500, **members})


def _send(operation: Callable[..., Response[Any]], *args: Any, **parameters: Any) -> tuple[Any, float, int]:
    """Return the body, `Retry-After` and the status. Repeat a request after broken connections and responses that ask for it."""
    inspect.signature(operation).bind(*args, **parameters)  # An unknown parameter is a TypeError of the caller.
    for attempt in range(1, MAX_ATTEMPTS + 1):
        failure: AgentError
        cause: Exception | None = None
        retry_after = 0.0
        try:
            response = operation(*args, **parameters)
            parsed = response.parsed
            retry_after = _seconds(response.headers.get("Retry-After", ""))
            if parsed is not None and not isinstance(parsed, Problem):
                return parsed.to_dict(), retry_after, int(response.status_code)
            failure = _to_error(response)
            if response.status_code not in RETRYABLE_STATUSES and failure.code != "InternalError":
                raise failure
        except httpx.RequestError as error:
            failure = _client_error("ConnectionFailed", f"The request got no complete response: {error}")
            cause = error
        except UNREADABLE as error:
            failure = _unexpected(error)
            cause = error
        if attempt == MAX_ATTEMPTS:
            raise failure from cause
        time.sleep(retry_after + random.random() * 0.1 * 2**attempt)
    raise AssertionError("unreachable")


def _to_error(response: Response[Any]) -> AgentError:
    if isinstance(response.parsed, Problem):
        return AgentError(response.parsed.to_dict())
    return _client_error("UnexpectedResponse", "The response has no problem details.", int(response.status_code))


def _unexpected(error: Exception) -> AgentError:
    return _client_error("UnexpectedResponse", f"The response is not one of the service: {error!r}")


def _client_error(code: str, detail: str, status: int = 0) -> AgentError:
    return AgentError({"code": code, "status": status, "detail": detail})


def _seconds(retry_after: str) -> float:
    """The service sends whole seconds; what is in between may send a date."""
    return float(retry_after) if retry_after.isdigit() else 0.0
