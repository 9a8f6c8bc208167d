"""The operations of both clients, each defined once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Union

from .core.batches import emit_results, run_batches
from .core.call import Connection, to_output
from .core.events import open_events, open_run_events, read_events
from .core.flow import Emit, Flow, Reply, Request
from .core.request import next_query, request_json, to_path, to_query, unexpected
from .core.runs import Run, cancelling, new_key, run_to_end, start_run, wait_for_end
from .operation import Listing, Operation
from .records import (
    Agent,
    Approval,
    Batch,
    BatchResult,
    Event,
    Execution,
    Record,
    RunParameters,
    StartOptions,
    Step,
    StreamOptions,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: The ID of an execution or a batch, or its record.
OrId = Union[str, Mapping[str, Any]]
BATCH_PARAMETERS = {*RunParameters.__annotations__, "max_batch_cost_usd", "max_concurrency", "validate_only"}


class Operations:
    """What clients do. Methods of `Client` return results, those of `AsyncClient` coroutines and async iterators."""

    connection: Connection

    @Operation
    def start(self, agent: str, input: Any, **options: Unpack[StartOptions]) -> Flow[Execution]:
        """Starts a run and returns its execution, which is in progress unless its result was cached."""
        run = self._to_run(agent, input, options)
        return start_run(self.connection, self.connection.open(options.get("timeout")), run)

    @Operation
    def wait(
        self,
        execution: OrId,
        *,
        output: type | None = None,
        timeout: float | None = None,
        cancel_on_abort: bool = False,
        on_waiting: Any = None,
    ) -> Flow[Execution]:
        """
        Waits until an execution has succeeded. Raises `ExecutionFailed` if it ends in ERROR. `output`: a model of
        pydantic, of which `["output"]` is an instance then. Other options: those of `run`.
        """
        call = self.connection.open(timeout)
        call.execution_id = _id_of(execution)
        work = wait_for_end(self.connection, call, call.execution_id, on_waiting)
        record: Execution = yield from cancelling(self.connection, call, cancel_on_abort, None, work)
        record["output"] = to_output(record["output"], output, call.execution_id)
        return record

    @Listing
    def stream(self, agent: str, input: Any, **options: Unpack[StreamOptions]) -> Flow[Event]:
        """Runs an agent and yields what happens, each event once. The run starts when the iteration begins."""
        run = self._to_run(agent, input, options, "deltas", "cancel_on_abort")
        call = self.connection.open(options.get("timeout"), math.inf)
        work = read_events(self.connection, call, lambda after: open_run_events(self.connection, call, run, after), "0")
        return _items(cancelling(self.connection, call, options.get("cancel_on_abort", False), run, work))

    @Listing
    def events(
        self,
        execution: OrId,
        *,
        after: int = 0,
        deltas: bool | None = None,
        timeout: float | None = None,
    ) -> Flow[Event]:
        """Yields the events of an execution: the steps after the step `after`, and what follows."""
        call = self.connection.open(timeout, math.inf)
        id = call.execution_id = _id_of(execution)

        def open_at(last: str) -> Flow[Reply]:
            return open_events(self.connection, call, id, last, deltas)

        return _items(read_events(self.connection, call, open_at, str(after)))

    @Operation
    def get(self, execution: OrId, *, timeout: float | None = None) -> Flow[Execution]:
        """The execution as it is now."""
        return self._send("GET", to_path("agent_executions", _id_of(execution)), timeout=timeout)

    @Listing
    def steps(self, execution: OrId, *, timeout: float | None = None) -> Flow[Step]:
        """The steps of an execution, in order."""
        return self._list(to_path("agent_executions", _id_of(execution), "steps"), {}, timeout)

    @Operation
    def cancel(self, execution: OrId, *, timeout: float | None = None) -> Flow[Record]:
        """Ends an execution in ERROR `Cancelled`, unless it is final already."""
        return self._send("POST", to_path("agent_executions", _id_of(execution), "cancel"), timeout=timeout)

    @Operation
    def delete(self, execution: OrId, *, timeout: float | None = None) -> Flow[None]:
        """Deletes a final execution and everything that belongs to it."""
        return self._send("DELETE", to_path("agent_executions", _id_of(execution)), timeout=timeout)

    @Listing
    def executions(
        self, /, *, agent: str | None = None, timeout: float | None = None, **filters: Any
    ) -> Flow[Execution]:
        """Executions, newest first; `filters` are those of the API, such as `status` and `tenant_id`."""
        path = to_path("agent_executions") if agent is None else to_path("agents", agent, "executions")
        return self._list(path, filters, timeout)

    @Listing
    def agents(self, /, *, timeout: float | None = None, **filters: Any) -> Flow[Agent]:
        """The agents of the organization, newest first."""
        return self._list(to_path("agents"), filters, timeout)

    @Listing
    def approvals(
        self, *, agent: str | None = None, tenant_id: str | None = None, timeout: float | None = None
    ) -> Flow[Approval]:
        """The approvals that wait for a decision, newest first."""
        return self._list(to_path("approvals"), {"agent": agent, "tenant_id": tenant_id}, timeout)

    @Operation
    def decide(
        self,
        execution: OrId,
        approval_id: str,
        decision: str,
        *,
        input: Any = None,
        note: str | None = None,
        timeout: float | None = None,
    ) -> Flow[Record]:
        """
        Decides on an approval: `approve` or `reject`. The first decision counts; the same one again changes nothing.
        `input` replaces the arguments of the call.
        """
        members = {"decision": decision, "note": note, "input": input}
        body = {name: value for name, value in members.items() if value is not None}
        path = to_path("agent_executions", _id_of(execution), "approvals", approval_id)
        return self._send("POST", path, body, timeout=timeout)

    @Operation
    def signal(
        self,
        execution: OrId,
        name: str,
        data: Any = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Flow[Record]:
        """Sends a signal to an execution, which need not wait for it yet. Returns the ID of the signal."""
        path = to_path("agent_executions", _id_of(execution), "signals", name)
        return self._send("POST", path, data, {"Idempotency-Key": new_key(idempotency_key)}, timeout, has_body=True)

    @Listing
    def signals(self, execution: OrId, *, timeout: float | None = None) -> Flow[Record]:
        """The signals of an execution that no wait has taken, oldest first."""
        return self._list(to_path("agent_executions", _id_of(execution), "signals"), {}, timeout)

    @Listing
    def scores(
        self, /, *, agent: str | None = None, timeout: float | None = None, **filters: Any
    ) -> Flow[Record]:
        """What scorers have said about production runs, by day, oldest first; `filters` are those of the API."""
        return self._list(to_path("scores"), {"agent": agent, **filters}, timeout)

    @Operation
    def agreement(self, *, agent: str | None = None, timeout: float | None = None) -> Flow[list[Record]]:
        """How far scorers agree with people, on runs that have a score and a review."""
        return self._send("GET", to_path("scores", "agreement") + to_query({"agent": agent}), timeout=timeout)

    @Listing
    def batch_results(self, batch: Batch, *, timeout: float | None = None) -> Flow[BatchResult]:
        """What became of the lines of a batch so far, in their order."""
        return _items(emit_results(self.connection, self.connection.open(timeout, math.inf), batch["id"], batch["lines"]))

    @Operation
    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        once: bool = False,
        timeout: float | None = None,
    ) -> Flow[Any]:
        """
        Any other operation of the API, by its path from `/v1` on. It is repeated like all requests, unless `once` says
        that it must not be, as for `POST /v1/tokens`.
        """
        return self._send(method, path, body, headers, timeout, once=once)

    @Listing
    def iterate(self, path: str, /, *, timeout: float | None = None, **filters: Any) -> Flow[Record]:
        """The items of any list of the API, page by page. Each page has a deadline of its own."""
        return self._list(path, filters, timeout)

    def _send(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        *,
        has_body: bool = False,
        once: bool = False,
    ) -> Flow[Any]:
        content = self.connection.dumps(body).encode() if has_body or body is not None else None
        spec = Request(method, path, headers or {}, content, once=once)
        return request_json(self.connection, self.connection.open(timeout), spec)

    def _list(self, path: str, filters: Mapping[str, Any], timeout: float | None) -> Flow[Any]:
        query: str | None = to_query(filters)
        while query is not None:
            following: str | None = None

            def read(reply: Reply) -> None:
                nonlocal following
                following = next_query(reply.headers)

            items = yield from request_json(
                self.connection, self.connection.open(timeout), Request("GET", path + query), read
            )
            if not isinstance(items, list):
                raise unexpected(200, "The response is not a list.")
            for item in items:  # pyright: ignore[reportUnknownVariableType]
                yield Emit(item)
            query = following

    def _run(self, agent: str, input: Any, output: Any, options: Mapping[str, Any]) -> Flow[Any]:
        run = self._to_run(agent, input, options, "cancel_on_abort", "on_waiting")
        call = self.connection.open(options.get("timeout"))
        work = run_to_end(self.connection, call, run, options.get("on_waiting"))
        value = yield from cancelling(self.connection, call, options.get("cancel_on_abort", False), run, work)
        return to_output(value, output, call.execution_id)

    def _batch(self, agent: str, iterator: Any, options: Mapping[str, Any], ids: list[str]) -> Flow[None]:
        _check_names("batch", options, BATCH_PARAMETERS | {"timeout", "idempotency_key", "on_progress"})
        parameters = {name: value for name, value in options.items() if name in BATCH_PARAMETERS}
        call = self.connection.open(options.get("timeout"), math.inf)
        key = new_key(options.get("idempotency_key"))
        on_progress = options.get("on_progress")
        return run_batches(self.connection, call, agent, iterator, key, parameters, on_progress, ids.append)

    def _to_run(self, agent: str, input: Any, options: Mapping[str, Any], *others: str) -> Run:
        _check_names("run", options, {*RunParameters.__annotations__, "timeout", "idempotency_key", *others})
        names = {*RunParameters.__annotations__, "deltas"}
        parameters = {name: value for name, value in options.items() if name in names}
        key = new_key(options.get("idempotency_key"))
        return Run(agent, self.connection.dumps(input).encode(), key, parameters)


def _check_names(operation: str, options: Mapping[str, Any], allowed: set[str]) -> None:
    for name in options:
        if name not in allowed:
            raise TypeError(f"{operation} has no option {name!r}. Options are {', '.join(sorted(allowed))}.")


def _items(flow: Flow[Any]) -> Flow[Any]:
    """The type of a listing is that of its items."""
    return flow


def _id_of(record: OrId) -> str:
    return record if isinstance(record, str) else record["id"]
