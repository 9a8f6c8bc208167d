"""The server of remote agents, with requests that are signed here."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine
from datetime import datetime, timedelta, timezone
from typing import Any

import httpx
import pytest
from agent_execution.server import AgentFailure, Context, MemoryStore, agent
from agent_execution.server import agent as make_agent
from asgi import SECRET, Exchange, body_of, post


def run(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(main(), 30))


def echo(input: Any, context: Context) -> Any:
    return {"input": input, "id": context.execution.id, "attempt": context.execution.attempt}


def deadline(seconds: float) -> dict[str, str]:
    time = datetime.now(timezone.utc) + timedelta(seconds=seconds)
    return {"Execution-Deadline": time.isoformat(timespec="milliseconds").replace("+00:00", "Z")}


VALID = body_of({"a": 1})


@pytest.mark.parametrize(
    ("body", "headers", "options", "status", "message"),
    [
        (VALID, {"webhook-signature": ""}, {}, 401, "webhook-signature is missing"),
        (VALID, {"webhook-signature": "v1,größe"}, {}, 401, "does not match"),
        (VALID, {}, {"signed": VALID + b" "}, 401, "does not match"),
        (VALID, {}, {"secret": "whsec_" + "a" * 32}, 401, "does not match"),
        (VALID, {"webhook-timestamp": "1"}, {}, 401, "not within 300 seconds"),
        (VALID, {"webhook-timestamp": "nan"}, {}, 401, "not within 300 seconds"),
        (VALID, {"webhook-id": "another"}, {}, 401, "does not match"),
        (VALID, {}, {"method": "GET"}, 405, "POST only"),
        (b"", {}, {}, 400, "not a JSON object"),
        (b"[" * 100_000, {}, {}, 400, "not a JSON object"),
        (b"\xff\xfe\x00", {}, {}, 400, "not a JSON object"),
        (b"[]", {}, {}, 400, "not a JSON object"),
        (b"{}", {}, {}, 400, "The body must be"),
        (b'{"input": {}, "execution": {"id": 7}}', {}, {}, 400, "The body must be"),
        (body_of({}, callbackUrl=7), {}, {}, 400, "The body must be"),
        (VALID, {"Idempotency-Key": "e2"}, {}, 400, "Idempotency-Key must be"),
        (VALID, {"Execution-Deadline": "soon"}, {}, 400, "Execution-Deadline must be"),
        (b" " * 8_000_001, {}, {}, 413, "more than 8000000 bytes"),
    ],
)
def test_refuses(body: bytes, headers: dict[str, str], options: dict[str, Any], status: int, message: str) -> None:
    calls: list[Any] = []

    async def main() -> None:
        exchange = await post(agent(lambda input: calls.append(input), secret=SECRET), body, headers, **options)
        assert (exchange.status, calls) == (status, [])
        assert message in exchange.json["error"]["message"]

    run(main)


def test_refuses_without_a_secret_and_with_one_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AGENT_EXECUTION_SECRET", raising=False)

    async def main() -> None:
        exchange = await post(agent(echo), VALID)
        assert exchange.status == 503
        assert "AGENT_EXECUTION_SECRET" in exchange.json["error"]["message"]
        monkeypatch.setenv("AGENT_EXECUTION_SECRET", f"whsec_{'b' * 32} {SECRET}")
        assert (await post(agent(echo), VALID)).status == 200

    run(main)
    with pytest.raises(ValueError, match="whsec_"):
        agent(echo, secret="secret")
    for function in (7, lambda: None):
        with pytest.raises(TypeError, match="agent"):
            agent(function, secret=SECRET)  # type: ignore[arg-type]


def test_refuses_a_repeated_request_but_answers_a_new_one_without_running_again() -> None:
    calls: list[Any] = []

    def count(input: Any) -> Any:
        calls.append(input)
        return {"n": len(calls)}

    async def main() -> None:
        app = agent(count, secret=SECRET)
        assert (await post(app, VALID, webhook_id="m1")).json == {"n": 1}
        assert (await post(app, VALID, webhook_id="m1")).status == 409
        assert (await post(app, VALID, webhook_id="m2")).json == {"n": 1}
        assert (await post(app, body_of({}, "e2"), webhook_id="m3")).json == {"n": 2}

    run(main)


@pytest.mark.parametrize("is_async", [False, True])
def test_returns_the_output_or_the_error(is_async: bool) -> None:
    def fail(input: Any, context: Context) -> Any:
        match input:
            case "failure":
                raise AgentFailure("no such order")
            case "busy":
                raise AgentFailure("try later", retryable=True)
            case "exit":
                raise SystemExit(1)
            case "nan":
                return float("nan")
            case "bytes":
                return b"x"
        return {"text": "größe \ud800", "deadline": context.deadline is not None}

    async def fail_async(input: Any, context: Context) -> Any:
        return fail(input, context)

    async def main() -> None:
        app = agent(fail_async if is_async else fail, secret=SECRET)
        exchange = await post(app, body_of("ok"), deadline(60))
        assert (exchange.status, exchange.type) == (200, b"application/json")
        assert exchange.json == {"text": "größe ?", "deadline": True}
        for input, status, message in [
            ("failure", 422, "no such order"),
            ("busy", 503, "try later"),
            ("exit", 422, "SystemExit: 1"),
            ("nan", 422, "ValueError"),
            ("bytes", 422, "TypeError"),
        ]:
            exchange = await post(app, body_of(input, input))
            assert exchange.status == status
            assert message in exchange.json["error"]["message"]
        # An error that is not final runs again.
        assert (await post(app, body_of("ok", "busy"))).status == 200

    run(main)


def test_validates_with_the_model_of_the_annotation() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Order(pydantic.BaseModel):  # type: ignore[name-defined, misc]
        usd: float

    def refund(order: Order) -> Order:
        return Order(usd=order.usd * 2)

    refund.__annotations__["order"] = Order

    async def main() -> None:
        app = agent(refund, secret=SECRET)
        assert (await post(app, body_of({"usd": 2}))).json == {"usd": 4}
        exchange = await post(app, body_of({"usd": "x"}, "e2"))
        assert exchange.status == 422
        assert "does not match Order" in exchange.json["error"]["message"]

    run(main)


def test_a_second_request_joins_the_run_and_takes_over() -> None:
    started, go = threading.Event(), threading.Event()
    calls: list[Any] = []

    def slow(input: Any, context: Context) -> Any:
        calls.append(input)
        started.set()
        go.wait(20)
        return len(calls)

    async def main() -> None:
        app = agent(slow, secret=SECRET)
        first = asyncio.ensure_future(post(app, VALID))
        await asyncio.to_thread(started.wait)
        second = asyncio.ensure_future(post(app, VALID))
        assert (await first).status == 503
        go.set()
        assert (await second).json == 1

    run(main)


def test_streams_what_the_function_reports() -> None:
    def report(input: Any, context: Context) -> Any:
        context.step_log("look up", {"order": 7})
        context.log("found", "warn")
        context.usage("m", 10, 5)
        context.delta("{")
        if input == "fail":
            raise AgentFailure("no", retryable=True)
        return {"ok": True}

    events = [
        {"step": {"name": "look up", "detail": {"order": 7}}},
        {"log": {"level": "warn", "message": "found"}},
        {"usage": {"model": "m", "inputTokens": 10, "outputTokens": 5}},
        {"delta": "{"},
    ]

    async def main() -> None:
        app = agent(report, secret=SECRET)
        exchange = await post(app, VALID)
        assert (exchange.status, exchange.type) == (200, b"application/x-ndjson")
        assert exchange.lines == [*events, {"output": {"ok": True}}]
        failed = await post(app, body_of("fail", "e2"))
        assert failed.lines == [*events, {"error": {"message": "no", "retryable": True}}]

    run(main)


def test_a_stream_that_breaks_goes_on_in_the_next_request() -> None:
    async def main() -> None:
        resume = asyncio.Event()

        async def report(input: Any, context: Context) -> Any:
            context.step_log("one")
            await resume.wait()
            context.step_log("two")
            return 1

        app = agent(report, secret=SECRET)
        exchange = Exchange(VALID)
        first = asyncio.ensure_future(exchange.run(app))
        await exchange.received.wait()
        exchange.closed.set()
        await first
        second = asyncio.ensure_future(post(app, VALID))
        await asyncio.sleep(0)
        resume.set()
        assert exchange.lines == [{"step": {"name": "one"}}]
        assert (await second).lines == [{"step": {"name": "two"}}, {"output": 1}]

    run(main)


class Callback:
    """A receiver of callbacks, which fails with these statuses first."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.bodies: list[Any] = []
        self.done = asyncio.Event()

    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.MockTransport(self.receive))

    def receive(self, request: httpx.Request) -> httpx.Response:
        self.bodies.append(json.loads(request.content))
        status = self.statuses.pop(0) if self.statuses else 204
        if status == 0:
            raise httpx.ConnectError("refused")
        if status < 500:
            self.done.set()
        return httpx.Response(status)


@pytest.fixture
def no_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("random.random", lambda: 0)


@pytest.mark.usefixtures("no_backoff")
def test_answers_202_shortly_before_the_deadline_and_delivers_with_retries() -> None:
    async def main() -> None:
        callback, go = Callback(0, 503, 429), asyncio.Event()
        seen: list[Any] = []

        async def slow(input: Any, context: Context) -> Any:
            seen.append(context.deadline)
            await go.wait()
            seen.append(context.deadline)
            return {"n": len(seen)}

        app = make_agent(slow, secret=SECRET, new_client=callback.client)
        body = body_of({}, callbackUrl="https://service.example/callback")
        exchange = await post(app, body, deadline(0.2))
        assert (exchange.status, exchange.json) == (202, {"cancel": True})
        # The response was lost: the next request gets it at once.
        assert (await post(app, body, deadline(600))).status == 202
        go.set()
        while len(callback.bodies) < 4:
            await asyncio.sleep(0.001)
        assert callback.bodies == [{"output": {"n": 2}}] * 4
        assert seen[1] is None
        assert (await post(app, body, deadline(600))).json == {"n": 2}

    run(main)


@pytest.mark.usefixtures("no_backoff")
def test_a_stream_becomes_a_202_at_the_next_request() -> None:
    async def main() -> None:
        callback, go = Callback(), asyncio.Event()

        async def slow(input: Any, context: Context) -> Any:
            context.step_log("one")
            await go.wait()
            raise AgentFailure("broken")

        app = make_agent(slow, secret=SECRET, new_client=callback.client)
        body = body_of({}, callbackUrl="https://service.example/callback")
        exchange = await post(app, body, deadline(0.2))
        assert exchange.lines[0] == {"step": {"name": "one"}}
        assert exchange.lines[1]["error"]["retryable"] is True
        assert (await post(app, body, deadline(600))).status == 202
        go.set()
        await callback.done.wait()
        assert callback.bodies == [{"error": {"message": "broken", "retryable": False}}]

    run(main)


@pytest.mark.usefixtures("no_backoff")
def test_gives_up_a_callback_that_is_refused_and_shortens_one_that_is_too_large() -> None:
    async def main() -> None:
        callback = Callback(404)

        async def large(input: Any) -> Any:
            await asyncio.sleep(0.3)
            return "x" * 6_000_000

        app = make_agent(large, secret=SECRET, new_client=callback.client)
        await post(app, body_of({}, callbackUrl="https://service.example/callback"), deadline(0.1))
        await callback.done.wait()
        assert "6000014 bytes" in callback.bodies[0]["error"]["message"]
        assert len(callback.bodies) == 1

    run(main)


@pytest.mark.parametrize("is_async", [False, True])
def test_cancel_tells_the_function(is_async: bool) -> None:
    async def main() -> None:
        started = threading.Event()

        def wait(input: Any, context: Context) -> Any:
            started.set()
            return context.wait_cancelled(20)

        async def wait_async(input: Any, context: Context) -> Any:
            started.set()
            await asyncio.sleep(20)

        app = agent(wait_async if is_async else wait, secret=SECRET)
        running = asyncio.ensure_future(post(app, VALID))
        await asyncio.to_thread(started.wait)
        cancel = json.dumps({"executionId": "e1", "type": "cancel"}).encode()
        assert (await post(app, cancel, path="/run/cancel", secret="whsec_" + "a" * 32)).status == 401
        for _ in range(2):
            assert (await post(app, cancel, path="/run/cancel")).status == 204
        exchange = await running
        assert exchange.status == (422 if is_async else 200)
        assert exchange.json == ({"error": {"message": "The run was cancelled.", "retryable": False}} if is_async else True)

    run(main)


def test_cancels_a_run_that_nobody_waits_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_execution.server.job.GRACE_SECONDS", 0.05)

    async def main() -> None:
        ended = asyncio.Event()

        async def wait(input: Any, context: Context) -> Any:
            try:
                await asyncio.sleep(20)
            finally:
                ended.set()

        exchange = Exchange(VALID)
        running = asyncio.ensure_future(exchange.run(agent(wait, secret=SECRET)))
        await asyncio.sleep(0)
        exchange.closed.set()
        await running
        await ended.wait()

    run(main)


def test_the_memory_is_bounded() -> None:
    async def main() -> None:
        store = MemoryStore(max_answers=3, max_bytes=10, max_ids=2)
        for number in range(5):
            await store.save(f"e{number}", b"123")
        assert [await store.load(f"e{number}") for number in range(5)] == [None, None, b"123", b"123", b"123"]
        await store.save("e4", b"123456789")
        assert [await store.load(f"e{number}") for number in range(2, 5)] == [None, None, b"123456789"]
        for number in range(100):
            assert await store.claim(f"m{number}")
        assert not await store.claim("m99")
        assert await store.claim("m0")

    run(main)


def test_lifespan_and_other_protocols() -> None:
    async def main() -> None:
        app = agent(echo, secret=SECRET)
        messages = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]
        sent: list[str] = []

        async def receive() -> Any:
            return messages.pop(0)

        async def send(message: Any) -> None:
            sent.append(message["type"])

        await app({"type": "lifespan"}, receive, send)
        assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
        with pytest.raises(NotImplementedError):
            await app({"type": "websocket"}, receive, send)

    run(main)


def test_lambda_handler() -> None:
    calls: list[Any] = []

    class LambdaContext:
        def get_remaining_time_in_millis(self) -> int:
            return 60_000

    async def refund(input: Any, context: Context) -> Any:
        calls.append(input)
        context.step_log("not kept")
        assert context.deadline is not None
        if input == "fail":
            raise AgentFailure("no", retryable=True)
        return {"n": len(calls)}

    handler = agent(refund).lambda_handler
    event = json.loads(body_of({"a": 1}))
    assert handler(event, LambdaContext()) == {"n": 1}
    assert handler(event, LambdaContext()) == {"n": 1}
    assert handler(json.loads(body_of("fail", "e2")), LambdaContext()) == {"error": {"message": "no", "retryable": True}}
    for wrong in (None, [], {}, {"input": 1}):
        assert "The body must be" in handler(wrong)["error"]["message"]
