"""The records of the API that calls return, as they are in JSON, and the options of calls."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired

#: A record that has no type of its own here: `GET /v1/openapi.json` describes it.
Record = dict[str, Any]
Status = Literal["IN_PROGRESS", "SUCCESS", "ERROR"]


class Wait(TypedDict):
    """What a suspended execution waits for."""

    kind: Literal["approval", "signal", "sleep", "retry", "limit"]
    name: str
    since: str
    until: str | None
    id: NotRequired[str]


class ExecutionError(TypedDict):
    """Why an execution failed. It can have more members."""

    code: str
    message: str


class Execution(TypedDict):
    """An execution. The schemas of the agent describe its input and its output, which is None until it succeeds."""

    id: str
    documentId: str
    versionId: str
    tenantId: str | None
    status: Status
    input: Any
    output: Any
    error: ExecutionError | None
    cached: bool
    source: str
    createdAt: str
    finishedAt: NotRequired[str | None]
    waitingFor: list[Wait] | None
    usage: NotRequired[Record | None]
    costUsd: NotRequired[float | None]


class ToolCall(TypedDict):
    """A call of a tool. It can have more members."""

    id: str
    name: str
    input: Any
    result: NotRequired[Any]
    error: NotRequired[str]
    approval: NotRequired[Record]
    durationMs: NotRequired[float]


class Step(TypedDict):
    """A step of an execution. It can have more members."""

    number: int
    kind: NotRequired[str]
    name: NotRequired[str]
    text: NotRequired[str]
    model: NotRequired[str]
    toolCalls: NotRequired[list[ToolCall]]
    usage: NotRequired[Record]
    costUsd: NotRequired[float | None]
    attempt: int
    startedAt: str
    finishedAt: str
    durationMs: float


class Approval(TypedDict):
    """An approval that waits for a decision."""

    id: str
    executionId: str
    documentId: str
    versionId: str
    tenantId: str | None
    name: str
    title: str
    input: NotRequired[Any]
    inputSchema: NotRequired[Record | None]
    mayDecide: bool
    since: str
    until: str
    step: int


class Batch(TypedDict):
    """A batch. It can have more members."""

    id: str
    documentId: str
    versionId: str
    tenantId: str | None
    status: Literal["IN_PROGRESS", "CANCELLING", "ENDED"]
    lines: int
    counts: dict[Status, int]
    waiting: int
    costUsd: float
    error: ExecutionError | None
    createdAt: str
    endedAt: str | None


class BatchResult(TypedDict):
    """What became of a line of a batch."""

    customId: str
    executionId: str | None
    status: Status
    output: Any
    error: ExecutionError | None


class Agent(TypedDict):
    """An agent. It can have more members."""

    id: str
    orgId: str
    slug: str
    title: str
    description: str | None
    createdBy: str
    createdAt: str
    updatedAt: str
    currentVersionId: str | None
    draftVersionId: str | None
    inputSchema: Record
    outputSchema: Record
    archivedAt: str | None


class StatusEvent(TypedDict):
    """The status of the execution, first and when it changes."""

    event: Literal["status"]
    data: Record


class StepEvent(TypedDict):
    """A step has ended."""

    event: Literal["step"]
    data: Step


class ToolEvent(TypedDict):
    """The decision on a tool call of the step `data["step"]`, or its result."""

    event: Literal["tool"]
    data: Record


class WaitingEvent(TypedDict):
    """The execution is suspended, and goes on when something has arrived: `data["waitingFor"]`."""

    event: Literal["waiting"]
    data: Record


class DoneEvent(TypedDict):
    """The last event."""

    event: Literal["done"]
    data: Execution


class DeltaEvent(TypedDict):
    """A piece of `text`, or of the `arguments` of a `toolCall`, of the response `try` for a step."""

    event: Literal["delta"]
    data: Record


class ResetEvent(TypedDict):
    """All that came from a try of a step is void."""

    event: Literal["reset"]
    data: Record


class PartialEvent(TypedDict):
    """The output so far: members and items can be missing at the end, and texts can be cut."""

    event: Literal["partial"]
    data: Record


#: With `deltas=True`, also the last three.
Event = Union[StatusEvent, StepEvent, ToolEvent, WaitingEvent, DoneEvent, DeltaEvent, ResetEvent, PartialEvent]


class ClientOptions(TypedDict, total=False):
    """
    `timeout`: of calls that have none of their own, in seconds, by default 600, and none for streams and batches.
    `max_retries`: after failures in a row, by default 20. `loads`, `dumps`: in place of those of `json`.
    """

    timeout: float | None
    max_retries: float
    loads: Callable[[str], Any]
    dumps: Callable[[Any], str]


class CallOptions(TypedDict, total=False):
    """`timeout`: the deadline of the call with all its retries, in seconds; `math.inf` for none."""

    timeout: float | None


class RunParameters(TypedDict, total=False):
    """Parameters of a run (docs/runs.md)."""

    enforce_input_schema: bool | None
    use_cache: bool | None
    max_agent_steps: int | None
    max_tokens: int | None
    max_cost_usd: float | None
    version: str | None
    tenant_id: str | None
    use_dynamic_learning: bool | None
    model: str | None
    webhook_url: str | None


class StartOptions(RunParameters, CallOptions, total=False):
    """`idempotency_key`: for 24 hours, the same key and input are the same execution. By default, each call has one."""

    idempotency_key: str | None


class RunOptions(StartOptions, total=False):
    """
    `cancel_on_abort`: also cancels the execution at the deadline, after Ctrl-C, and when the task is cancelled.
    `on_waiting`: called with the waits and the execution for each new list of what it waits for.
    """

    cancel_on_abort: bool
    on_waiting: Callable[[list[Wait], Execution], Any] | None


class StreamOptions(StartOptions, total=False):
    """`deltas`: also what models are writing, and the output so far. Without a `timeout`, a stream has no deadline."""

    cancel_on_abort: bool
    deltas: bool | None


class BatchOptions(StartOptions, total=False):
    """
    `max_batch_cost_usd` is the limit of all batches of a call together. `validate_only` checks all inputs, and yields
    nothing. `on_progress` is called with the batch whenever it was read. Without a `timeout`, there is no deadline.
    """

    max_batch_cost_usd: float | None
    max_concurrency: int | None
    validate_only: bool | None
    on_progress: Callable[[Batch], Any] | None
