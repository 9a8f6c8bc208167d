"""Runs of agents with the client that openapi-python-client generates: waiting, safe retries, and errors by their code."""

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
from agent_execution_service_client.types import Response

MAX_ATTEMPTS = 5
RETRYABLE_STATUSES = (408, 429, 502, 503)
WAIT_SECONDS = 20  # The service accepts at most 25.
TIMEOUT = httpx.Timeout(10, read=300)  # A synchronous run can take 270 seconds.


class AgentError(Exception):
    """An error of the service. Branch on `code`; the text is for people. `problem` has all members (RFC 9457)."""

    def __init__(self, problem: dict[str, Any]):
        super().__init__(f"{problem['code']}: {problem['detail']}")
        self.problem = problem
        self.code: str = problem["code"]
        self.status: int = problem["status"]


def connect(base_url: str, token: str) -> AuthenticatedClient:
    return AuthenticatedClient(base_url=base_url, token=token, timeout=TIMEOUT)


def run(client: AuthenticatedClient, agent: str, input: Any, **parameters: Any) -> Any:
    """Run an agent and return its output. `parameters` are those of `run_agent.sync`."""
    try:
        return _post(client, agent, input, RunAgentExecMode.SYNC, parameters)
    except AgentError as error:
        # The run continues without a caller: after 270 seconds, or when a retry found the first request still running.
        if error.code not in ("ExecutionStillRunning", "ExecutionInProgress"):
            raise
        return wait(client, error.problem["executionId"])


def start(client: AuthenticatedClient, agent: str, input: Any, **parameters: Any) -> Execution:
    """Start an asynchronous run and return its execution at once."""
    return Execution.from_dict(_post(client, agent, input, RunAgentExecMode.ASYNC, parameters))


def wait(client: AuthenticatedClient, execution_id: UUID | str) -> Any:
    """Wait until an execution is final and return its output. Raise AgentError if it ended in ERROR."""
    id = UUID(str(execution_id))
    while True:
        execution = _send(lambda: get_execution.sync_detailed(id, client=client, prefer=f"wait={WAIT_SECONDS}"))
        if execution["status"] == "SUCCESS":
            return execution["output"]
        if execution["status"] == "ERROR":
            error = execution["error"]
            raise AgentError({"code": "ExecutionFailed", "status": 500, "detail": error["message"], "error": error})


def _post(
    client: AuthenticatedClient, agent: str, input: Any, mode: RunAgentExecMode, parameters: dict[str, Any]
) -> Any:
    """All attempts have one idempotency key, so that they lead to one execution."""
    options = {"idempotency_key": str(uuid.uuid4()), **parameters}
    body = RunAgentBody.from_dict(input)
    return _send(lambda: run_agent.sync_detailed(agent, client=client, body=body, exec_mode=mode, **options))


def _send(request: Callable[[], Response[Any]]) -> Any:
    """Repeat a request after broken connections and responses that ask for it."""
    for attempt in range(1, MAX_ATTEMPTS + 1):
        retry_after = 0.0
        try:
            response = request()
            parsed = response.parsed
            code = parsed.code if isinstance(parsed, Problem) else None
            if attempt == MAX_ATTEMPTS or not (response.status_code in RETRYABLE_STATUSES or code == "InternalError"):
                break
            retry_after = float(response.headers.get("Retry-After", 0))
        except (httpx.TransportError, ValueError):  # A proxy can respond with something else than JSON.
            if attempt == MAX_ATTEMPTS:
                raise
        time.sleep(retry_after + random.random() * 0.1 * 2**attempt)
    if parsed is None:
        raise AgentError({"code": "UnexpectedResponse", "status": response.status_code, "detail": "No problem details."})
    if isinstance(parsed, Problem):
        raise AgentError(parsed.to_dict())
    return parsed.to_dict()
