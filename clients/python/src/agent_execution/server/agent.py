"""The server of a remote agent: an ASGI app, and a handler for Lambda."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from typing import Any

import httpx

from ..core.values import as_object
from ..core.webhook import to_keys, verify
from ..errors import InvalidWebhook
from .callback import deliver
from .context import Execution
from .function import AgentFunction, Answer, InvalidInput, to_bytes, to_error
from .job import Job
from .store import MemoryStore, Store

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
SendMessage = Callable[[Message], Awaitable[None]]

SECRET_VARIABLE = "AGENT_EXECUTION_SECRET"
STREAM_START = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/x-ndjson")]}
#: Bytes and seconds of a request.
MAX_BODY_BYTES = 8_000_000
BODY_SECONDS = 30.0
#: How long before the deadline a run is answered with 202.
MARGIN_SECONDS = 3.0


class Refused(Exception):
    """A request that is answered with an error at once."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class RemoteAgent:
    """An ASGI app. `lambda_handler` is its handler for Lambda, where the invocation is authorized by IAM."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        secret: str | Iterable[str] | None = None,
        store: Store | None = None,
        max_threads: int = 100,
        new_client: Callable[[], httpx.AsyncClient] = httpx.AsyncClient,
    ) -> None:
        self.function = AgentFunction(function, ThreadPoolExecutor(max_threads, "agent"))
        self._store: Store = MemoryStore() if store is None else store
        given = os.environ.get(SECRET_VARIABLE, "").split() if secret is None else secret
        self._secrets = [given] if isinstance(given, str) else list(given)
        if self._secrets:
            to_keys(self._secrets)
        self._new_client = new_client
        self._jobs: dict[str, Job] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    async def __call__(self, scope: Message, receive: Receive, send: SendMessage) -> None:
        """ASGI 3. Under another app, only `http` arrives here."""
        if scope["type"] == "lifespan":
            return await self._live(receive, send)
        if scope["type"] != "http":
            raise NotImplementedError(f"An agent has no {scope['type']}.")
        try:
            body = await self._read(scope, receive)
            if scope["path"].endswith("/cancel"):
                return await self._cancel(body, send)
            await self._run(scope, body, receive, send)
        except Refused as refused:
            await _respond(send, refused.status, to_error(str(refused)))

    def lambda_handler(self, event: Any, lambda_context: Any = None) -> Any:
        """The event is the body of a request; the result is the output or `{"error": …}`."""
        try:
            input, execution, _ = self._parse(event)
        except Refused as refused:
            return to_error(str(refused))
        answer = asyncio.run(self._answer_once(input, execution, lambda_context))
        return json.loads(to_bytes(answer.get("output") if "output" in answer else answer))

    async def _answer_once(self, input: Any, execution: Execution, lambda_context: Any) -> Answer:
        stored = await self._store.load(execution.id)
        if stored is not None:
            answer: Answer = json.loads(stored.splitlines()[-1])
            return answer
        job = Job(execution)
        if lambda_context is not None:
            remaining = timedelta(milliseconds=lambda_context.get_remaining_time_in_millis())
            job.context.deadline = datetime.now(timezone.utc) + remaining
        answer = await job.run(self.function, input)
        await self._keep(execution.id, answer, b"")
        return answer

    async def _read(self, scope: Message, receive: Receive) -> bytes:
        """The body of a request that the service has signed. Raises `Refused`."""
        if scope["method"] != "POST":
            raise Refused(405, "An agent accepts POST only.")
        if not self._secrets:
            raise Refused(503, f"The agent has no secret: set {SECRET_VARIABLE}, or pass it to agent().")
        try:
            body = await asyncio.wait_for(_read_body(receive), BODY_SECONDS)
        except asyncio.TimeoutError:
            raise Refused(408, f"The body did not arrive within {BODY_SECONDS:g} seconds.") from None
        try:
            return verify(body, scope["headers"], self._secrets)
        except InvalidWebhook as error:
            raise Refused(401, error.detail) from None

    def _parse(self, event: Any) -> tuple[Any, Execution, str | None]:
        """The input, the execution and the callback of a body. Raises `Refused`."""
        body = as_object(event) or {}
        fields = as_object(body.get("execution")) or {}
        url = body.get("callbackUrl")
        if "input" not in body or not isinstance(fields.get("id"), str) or not isinstance(url, (str, type(None))):
            raise Refused(400, 'The body must be {"input": …, "execution": {"id": …}, "callbackUrl": …}.')
        attempt = fields.get("attempt")
        execution = Execution(
            fields["id"],
            str(fields.get("agent", "")),
            str(fields.get("version", "")),
            fields.get("tenantId"),
            attempt if isinstance(attempt, int) else 1,
        )
        try:
            return self.function.parse(body["input"]), execution, url
        except InvalidInput as error:
            raise Refused(422, str(error)) from None

    async def _cancel(self, body: bytes, send: SendMessage) -> None:
        """A repeat, and the cancel of a run that has ended, change nothing."""
        job = self._jobs.get(str(_parse_json(body).get("executionId")))
        if job:
            job.cancel()
        await _respond(send, 204, None)

    async def _run(self, scope: Message, body: bytes, receive: Receive, send: SendMessage) -> None:
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if not await self._store.claim(headers["webhook-id"]):
            raise Refused(409, "A request with this webhook-id was received before.")
        input, execution, callback_url = self._parse(_parse_json(body))
        if headers.get("idempotency-key", execution.id) != execution.id:
            raise Refused(400, "Idempotency-Key must be the ID of the execution.")
        deadline = _parse_deadline(headers.get("execution-deadline"))
        stored = await self._store.load(execution.id)
        if stored is not None:
            return await _respond_stored(send, stored)
        job = self._jobs.get(execution.id) or self._start(input, execution)
        job.context.deadline = deadline
        listener = job.listen()
        try:
            await self._wait(job, listener, callback_url, deadline, receive, send)
        finally:
            job.leave(listener)

    def _start(self, input: Any, execution: Execution) -> Job:
        job = self._jobs[execution.id] = Job(execution)
        self._keep_alive(self._finish(job, input, execution.id))
        return job

    async def _finish(self, job: Job, input: Any, id: str) -> None:
        """Runs a job to its end, whatever becomes of its requests."""
        try:
            answer = await job.run(self.function, input)
            await self._keep(id, answer, job.take_lines() if job.is_alone else b"")
            if job.callback_url is not None:
                await deliver(job.callback_url, answer, id, self._new_client)
        finally:
            self._jobs.pop(id, None)

    async def _keep(self, id: str, answer: Answer, lines: bytes) -> None:
        """An error after which the service tries again is not an answer that it should get again."""
        if not (as_object(answer.get("error")) or {}).get("retryable"):
            await self._store.save(id, lines + to_bytes(answer))

    async def _wait(
        self,
        job: Job,
        listener: object,
        callback_url: str | None,
        deadline: datetime | None,
        receive: Receive,
        send: SendMessage,
    ) -> None:
        """Answers with the output, a stream once there is an event, or 202 shortly before the deadline."""
        seconds = None if deadline is None else (deadline - datetime.now(timezone.utc)).total_seconds()
        patience = None if seconds is None or callback_url is None else seconds - min(MARGIN_SECONDS, max(seconds, 0) / 3)
        if job.is_long and callback_url is not None:
            patience = 0
        ends_at = None if patience is None else time.monotonic() + patience
        gone = asyncio.ensure_future(_disconnected(receive))
        is_stream = False
        try:
            while True:
                job.changed.clear()
                if not job.is_listener(listener):
                    answer: Answer | None = to_error("A later request of the run has taken over.", True)
                else:
                    answer = job.answer
                is_late = ends_at is not None and time.monotonic() >= ends_at
                if answer is None and is_late and not is_stream and callback_url is not None:
                    job.is_long, job.callback_url, job.context.deadline = True, callback_url, None
                    return await _respond(send, 202, {"cancel": True})
                if answer is None and is_late:
                    # The status is sent already: the next request gets 202.
                    job.is_long = True
                    answer = to_error("The run takes longer than the request.", True)
                if job.is_listener(listener) and job.lines:
                    if not is_stream:
                        await send(STREAM_START)
                        is_stream = True
                    await send({"type": "http.response.body", "body": job.take_lines(), "more_body": True})
                if answer is not None and is_stream:
                    return await send({"type": "http.response.body", "body": to_bytes(answer) + b"\n"})
                if answer is not None:
                    return await _respond_with(send, answer)
                await _first(job.changed, gone, ends_at)
                if gone.done():
                    return
        finally:
            gone.cancel()

    def _keep_alive(self, work: Any) -> None:
        """The event loop has only weak references to tasks."""
        task: asyncio.Task[Any] = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _live(self, receive: Receive, send: SendMessage) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.shutdown":
                # Answers that are on their way.
                if self._tasks:
                    await asyncio.wait(self._tasks, timeout=10)
                return await send({"type": "lifespan.shutdown.complete"})
            await send({"type": f"{message['type']}.complete"})


def agent(
    function: Callable[..., Any], *, secret: str | Iterable[str] | None = None, store: Store | None = None, **options: Any
) -> RemoteAgent:
    """
    Makes an agent of `def run(input, context)`, synchronous or asynchronous.

    `secret`: the default webhook secret of the organization, or several during a rotation; by default, the words of the
    environment variable `AGENT_EXECUTION_SECRET`. `store`: remembers requests and answers in place of the memory.
    """
    return RemoteAgent(function, secret=secret, store=store, **options)


async def _read_body(receive: Receive) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, "The connection was closed within the body.")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MAX_BODY_BYTES:
            raise Refused(413, f"The body has more than {MAX_BODY_BYTES} bytes.")
        if not message.get("more_body"):
            return b"".join(parts)


def _parse_json(body: bytes) -> dict[str, Any]:
    try:
        value = as_object(json.loads(body))
    except (ValueError, RecursionError):
        value = None
    if value is None:
        raise Refused(400, "The body is not a JSON object.")
    return value


def _parse_deadline(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        date = datetime.fromisoformat(text.replace("Z", "+00:00"))
        return date if date.tzinfo else date.replace(tzinfo=timezone.utc)
    except ValueError:
        raise Refused(400, "Execution-Deadline must be a time in ISO 8601.") from None


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _first(changed: asyncio.Event, gone: asyncio.Future[Any], ends_at: float | None) -> None:
    """Waits for a change, the end of the connection, or the time."""
    change: asyncio.Future[Any] = asyncio.ensure_future(changed.wait())
    try:
        timeout = None if ends_at is None else max(ends_at - time.monotonic(), 0)
        await asyncio.wait({change, gone}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
    finally:
        change.cancel()


async def _respond_stored(send: SendMessage, stored: bytes) -> None:
    """An answer, after the lines that no request has taken."""
    *lines, last = stored.splitlines()
    if not lines:
        return await _respond_with(send, json.loads(last))
    await send(STREAM_START)
    await send({"type": "http.response.body", "body": stored + b"\n"})


async def _respond_with(send: SendMessage, answer: Answer) -> None:
    """The output, or an error with the status by which the service tries again or not."""
    if "output" in answer:
        return await _respond(send, 200, answer["output"])
    error = as_object(answer["error"]) or {}
    await _respond(send, 503 if error.get("retryable") else 422, answer)


async def _respond(send: SendMessage, status: int, value: Any) -> None:
    body = b"" if status == 204 else to_bytes(value)
    headers = [(b"content-type", b"application/json")] if body else []
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
