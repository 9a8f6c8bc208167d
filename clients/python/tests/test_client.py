"""What only the client for Python has; `test_scenarios.py` has what clients of all languages do."""

from __future__ import annotations

import asyncio
import json
import pickle
import random
from typing import Any

import httpx
import pytest
from agent_execution import (
    AgentError,
    AsyncClient,
    Client,
    ClientTimeout,
    ConnectionFailed,
    InputSchemaMismatch,
    InvalidRequest,
    NotFound,
    UnexpectedResponse,
)
from scripted_service import scripted_service

CANCELLED = {"json": {"id": "e1", "status": "ERROR"}}


def client_of(handler: Any, **options: Any) -> Client:
    return Client("https://agents.example", "aes_x", http=httpx.Client(transport=httpx.MockTransport(handler)), **options)


def answering(*answers: Any) -> tuple[Client, list[httpx.Request]]:
    """A client whose requests get these values, or exceptions, in this order."""
    requests: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        answer = answers[len(requests) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, httpx.Response) else httpx.Response(200, json=answer)

    return client_of(handler), requests


@pytest.mark.parametrize(
    "error",
    [
        httpx.ConnectError("x"),
        httpx.ReadTimeout("x"),
        httpx.PoolTimeout("x"),
        httpx.RemoteProtocolError("x"),
        httpx.DecodingError("x"),
        OSError("x"),
    ],
)
def test_no_exception_of_a_library_reaches_the_caller(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random, "random", lambda: 0)
    client, requests = answering(error, error, {"a": 1})
    assert client.run("wait", {}) == {"a": 1}
    assert len({request.headers["idempotency-key"] for request in requests}) == 1

    def fail(request: httpx.Request) -> httpx.Response:
        raise error

    with pytest.raises(ConnectionFailed) as raised:
        client_of(fail, max_retries=1).run("wait", {})
    assert raised.value.__cause__ is error


def test_models_are_input_and_output() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Order(pydantic.BaseModel):  # type: ignore[name-defined, misc]
        order_id: str = pydantic.Field(alias="orderId")

    order = Order(orderId="o-1")
    result = {"customId": "0", "executionId": None, "status": "SUCCESS", "output": {"orderId": "o-1"}, "error": None}
    batch = {"id": "b1", "status": "ENDED", "lines": 1, "costUsd": 0}
    client, requests = answering(
        {"orderId": "o-1"},
        {"id": "e1", "status": "SUCCESS", "output": {"orderId": "o-1"}},
        batch,
        batch,
        httpx.Response(200, text=json.dumps(result)),
        httpx.Response(200, json={"orderId": 1}, headers={"X-Execution-Id": "e1"}),
    )
    assert client.run("refund", order, output=Order) == order
    assert json.loads(requests[0].content) == {"orderId": "o-1"}
    assert client.wait("e1", output=Order)["output"] == order
    assert [each["output"] for each in client.batch("refund", [order], output=Order)] == [order]
    with pytest.raises(UnexpectedResponse, match="does not match Order") as raised:
        client.run("refund", order, output=Order)
    assert raised.value.execution_id == "e1"


def test_errors_are_one_tree_and_can_be_pickled() -> None:
    problem = {"code": "InputSchemaMismatch", "detail": "no", "errors": [{"path": "/a", "message": "x"}]}
    client, _ = answering(httpx.Response(422, json=problem), httpx.Response(404, json={"code": "AgentNotFound", "detail": "no"}))
    with pytest.raises(InvalidRequest) as raised:
        client.run("wait", {})
    error = pickle.loads(pickle.dumps(raised.value))
    assert isinstance(error, InputSchemaMismatch)
    assert (str(error), error.status, error.errors[0]["path"]) == ("InputSchemaMismatch: no", 422, "/a")
    with pytest.raises(NotFound):
        client.run("wait", {})


def test_wrong_arguments_send_nothing() -> None:
    client, requests = answering()
    for call in (
        lambda: client.run("wait", {}, idempotency_key="a\nb"),
        lambda: client.run("wait", {}, timeout=0),
        lambda: client.run("..", {}),
        lambda: client.run("", {}),
        lambda: client.run("wait", {"a": float("nan")}),
        lambda: client.run("wait", object()),
        lambda: client.run("wait", {}, use_cash=True),  # type: ignore[call-overload]
        lambda: list(client.batch("wait", [], deltas=True)),  # type: ignore[call-arg]
    ):
        with pytest.raises((ValueError, TypeError)):
            call()
    for options in ({"base_url": "agents.example"}, {"token": ""}, {"token": "a\nb"}, {"max_retries": -1}):
        with pytest.raises(ValueError):
            Client(**{"base_url": "https://agents.example/v1/", "token": "x", **options})
    assert requests == []


def test_any_operation_and_any_list() -> None:
    client, requests = answering({"a": 1}, [{"id": 1}], httpx.Response(503), httpx.Response(204))
    assert client.request("PUT", "/v1/agents/a/schedules/s", {"cron": "@daily"}) == {"a": 1}
    assert list(client.iterate("/v1/audit", tenant_id="acme", limit=5)) == [{"id": 1}]
    with pytest.raises(AgentError):
        client.request("POST", "/v1/tokens", {"name": "x"}, once=True)
    assert client.request("DELETE", "/v1/limits") is None
    assert [str(request.url.raw_path, "ascii") if isinstance(request.url.raw_path, bytes) else "" for request in requests] == [
        *("/v1/agents/a/schedules/s", "/v1/audit?tenantId=acme&limit=5", "/v1/tokens", "/v1/limits")
    ]


def test_a_body_that_drips_ends_at_the_deadline() -> None:
    class Drip(httpx.SyncByteStream):
        def __iter__(self) -> Any:
            while True:
                yield b" "

    client, _ = answering(httpx.Response(200, stream=Drip()))
    with pytest.raises(ClientTimeout):
        client.run("wait", {}, timeout=0.05)


def test_ctrl_c_and_a_cancelled_task_cancel_the_execution() -> None:
    def interrupt(waits: Any, execution: Any) -> None:
        raise KeyboardInterrupt

    waiting = {"json": {"id": "e1", "status": "IN_PROGRESS", "waitingFor": [{"kind": "signal"}]}, "status": 202}
    with scripted_service([waiting, {**waiting, "status": 200}, CANCELLED]) as service:
        with Client(service.base_url, "aes_x") as client, pytest.raises(KeyboardInterrupt):
            client.run("wait", {}, cancel_on_abort=True, on_waiting=interrupt)
        assert service.requests[2]["path"] == "/v1/agent_executions/e1/cancel"

    async def main() -> None:
        with scripted_service([{"hang": True}, {"json": {"id": "e1"}}, CANCELLED]) as service:
            async with AsyncClient(service.base_url, "aes_x") as client:
                task = asyncio.ensure_future(client.run("wait", {}, cancel_on_abort=True))
                while not service.requests:
                    await asyncio.sleep(0.001)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            assert service.requests[2]["path"] == "/v1/agent_executions/e1/cancel"

    asyncio.run(main())


def test_leaving_a_stream_closes_its_connection() -> None:
    closed: list[int] = []

    class Events(httpx.SyncByteStream):
        def __iter__(self) -> Any:
            yield b'event: status\ndata: {"id": "e1", "status": "IN_PROGRESS"}\n\n' * 2

        def close(self) -> None:
            closed.append(1)

    client, requests = answering(httpx.Response(200, stream=Events(), headers={"Content-Type": "text/event-stream"}))
    events = client.stream("echo", {})
    assert requests == []
    assert next(events)["event"] == "status"
    events.close()
    assert closed == [1]


def test_runs_through_a_bad_network_are_as_many_executions() -> None:
    """The night does the same with the service (test/nightly/clients)."""
    draw = random.Random(1)
    executions: dict[str, Any] = {}

    def handler(request: httpx.Request) -> httpx.Response:
        fault = draw.choice(["drop", "lose", "cut", "busy", *["none"] * 4])
        if fault == "drop":
            raise httpx.ConnectError("dropped")
        if fault == "busy":
            return httpx.Response(503, headers={"Retry-After": "0"})
        output = executions.setdefault(request.headers["idempotency-key"], json.loads(request.content))
        if fault == "lose":
            raise httpx.ReadError("lost")
        text = json.dumps(output)
        return httpx.Response(200, text=text[: len(text) // 2] if fault == "cut" else text)

    client = client_of(handler)
    original, random.random = random.random, lambda: 0
    try:
        for number in range(300):
            assert client.run("echo", {"n": number}) == {"n": number}
    finally:
        random.random = original
    assert len(executions) == 300


@pytest.mark.parametrize("limit", ["lines", "bytes"])
def test_batches_are_divided_and_share_a_cost_limit(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, value = {"lines": ("MAX_LINES", 2), "bytes": ("MAX_BYTES", 90)}[limit]
    monkeypatch.setattr(f"agent_execution.core.batches.{name}", value)
    result = {"executionId": None, "status": "SUCCESS", "output": {}, "error": None}
    pages = [httpx.Response(200, text="\n".join(json.dumps({"customId": f"{n + i}", **result}) for i in (0, 1))) for n in (0, 2)]
    ended = {"id": "b1", "status": "ENDED", "lines": 2, "costUsd": 0.5}
    client, requests = answering(ended, ended, pages[0], {**ended, "id": "b2"}, {**ended, "id": "b2"}, pages[1])
    run = client.batch("echo", [{"n": n} for n in range(5)], max_batch_cost_usd=1, idempotency_key="k")
    results = list(run)
    assert [each["customId"] for each in results] == ["0", "1", "2", "3", "4"]
    assert results[4]["error"] == {"code": "BudgetExceeded", "message": "The batches before it have reached the cost limit."}
    assert run.ids == ["b1", "b2"]
    starts = [request for request in requests if request.method == "POST"]
    assert [request.headers["idempotency-key"] for request in starts] == ["k", "k-2"]
    assert [request.url.params["maxBatchCostUsd"] for request in starts] == ["1", "0.5"]
