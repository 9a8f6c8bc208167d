"""Requests with their retries."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from ..errors import AgentError, to_error
from .call import Call, Connection
from .flow import Broken, Flow, Read, Reply, Request, Send
from .values import as_list, as_object

T = TypeVar("T")
BASE_SECONDS = 0.1
MAX_SECONDS = 10.0
#: 504 without the code of the service comes from a proxy.
RETRYABLE = (408, 429, 502, 503, 504)
#: Longer pauses than any program lives overflow.
MAX_RETRY_AFTER = 2.0**31


def request(connection: Connection, call: Call, spec: Request, read: Callable[[Reply], Flow[T]]) -> Flow[T]:
    """
    Sends a request until it is answered, as long as a retry can help and the deadline allows it.

    `read` reads a successful response; a retry follows if it raises `Broken`. Raises AgentError.
    """
    failures = attempt = 0
    while True:
        call.check()
        try:
            reply: Reply = yield Send(spec, min(spec.max_silence, call.remaining))
            # The response to the first request was lost.
            is_deleted = spec.method == "DELETE" and attempt > 0 and reply.status == 404
            if 200 <= reply.status < 300 or is_deleted:
                return (yield from read(reply))
            error = _error_of(reply, (yield from read_bytes(call, reply)))
        except Broken as broken:
            call.check()
            detail = f"{spec.method} {spec.path.split('?')[0]} got no complete response."
            error = to_error({"code": "ConnectionFailed", "detail": detail})
            error.__cause__ = broken.__cause__ or broken
        seconds = (error.retry_after or 0) + backoff(attempt)
        if spec.once or not _is_retryable(error) or failures >= connection.max_retries or seconds >= call.remaining:
            raise error
        failures += error.retry_after is None
        attempt += 1
        call.last_error = error
        yield from call.sleep(seconds)


def request_json(
    connection: Connection, call: Call, spec: Request, on_reply: Callable[[Reply], None] | None = None
) -> Flow[Any]:
    """Sends a request and parses the JSON of its response; None if it has no body."""

    def read(reply: Reply) -> Flow[Any]:
        if on_reply:
            on_reply(reply)
        return (yield from read_json(connection, call, reply))

    return request(connection, call, spec, read)


def read_bytes(call: Call, reply: Reply) -> Flow[bytes]:
    """The whole body. Raises `Broken`, or `ClientTimeout` if it does not end in time."""
    parts: list[bytes] = []
    while (part := (yield Read(reply))) is not None:
        parts.append(part)
        call.check()
    return b"".join(parts)


def read_json(connection: Connection, call: Call, reply: Reply) -> Flow[Any]:
    """The value of a JSON body; None without one."""
    body = yield from read_bytes(call, reply)
    if reply.status == 204 or reply.status >= 400:
        return None
    return parse_body(connection, reply.status, body.decode("utf-8", "replace"))


def parse_body(connection: Connection, status: int, text: str) -> Any:
    """A JSON body that ends too early is a broken connection: the length of a body is not always known."""
    cause: Exception | None = None
    try:
        value = connection.loads(text)
        if as_object(value) is not None or as_list(value) is not None:
            return value
    except (ValueError, RecursionError) as error:
        if re.match(r"\s*([\[{]|$)", text) and isinstance(error, ValueError):
            raise Broken("The body ends too early.") from error
        cause = error
    raise unexpected(status, "The response is not a JSON object or list.") from cause


def unexpected(status: int, detail: str) -> AgentError:
    """The error for what the service does not send."""
    return to_error({"code": "UnexpectedResponse", "status": status, "detail": detail})


def _error_of(reply: Reply, body: bytes) -> AgentError:
    """Problem details of the service, or whatever something in between has sent."""
    problem = {"code": "UnexpectedResponse", "detail": f"The response is {reply.status} without problem details."}
    try:
        value = as_object(json.loads(body)) or {}
        if isinstance(value.get("code"), str):
            problem = {**value, "detail": str(value.get("detail"))}
    except (ValueError, RecursionError):
        pass
    error = to_error({**problem, "status": reply.status})
    error.retry_after = read_retry_after(reply.headers)
    return error


def _is_retryable(error: AgentError) -> bool:
    """Whether the same request can succeed later. Days can pass before a cost limit is not reached any more."""
    is_cost_limit = error.code == "LimitExceeded" and str(error.members.get("limit")).startswith("maxCostUsd")
    if error.code == "ExecutionStillRunning" or is_cost_limit:
        return False
    return error.code in ("InternalError", "ConnectionFailed") or error.status in RETRYABLE


def backoff(failures: int) -> float:
    """
    Exponential backoff with full jitter, in seconds.

    https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
    """
    return random.random() * min(MAX_SECONDS, BASE_SECONDS * 2.0 ** min(failures, 10))


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """`Retry-After` in seconds: a number or a date (RFC 9110, section 10.2.3), on the clock of the server if sent."""
    text = headers.get("retry-after", "")
    if re.fullmatch(r"[0-9]+", text):
        return min(float(text), MAX_RETRY_AFTER)
    date = _parse_date(text)
    if date is None:
        return None
    now = _parse_date(headers.get("date", "")) or datetime.now(timezone.utc)
    return min(max((date - now).total_seconds(), 0), MAX_RETRY_AFTER)


def _parse_date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
        return date if date.tzinfo else date.replace(tzinfo=timezone.utc)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def to_path(*segments: str) -> str:
    """A path below `/v1`. Raises ValueError for segments that are empty, `.` or `..`, which are no names in a path."""
    for segment in segments:
        if segment in ("", ".", ".."):
            raise ValueError(f"{segment!r} is not a name or an ID.")
    return "/v1/" + "/".join(quote(segment, safe="") for segment in segments)


def to_query(parameters: Mapping[str, Any]) -> str:
    """A query without the parameters that are None, whose names are those of the service: `tenant_id` is `tenantId`."""
    pairs = [(to_camel(name), _to_text(value)) for name, value in parameters.items() if value is not None]
    return "?" + urlencode(pairs) if pairs else ""


def to_camel(name: str) -> str:
    """`max_cost_usd` as `maxCostUsd`."""
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name)


def _to_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def next_query(headers: Mapping[str, str]) -> str | None:
    """The query of the next page in a `Link` header (RFC 8288). The path stays: a proxy may have changed it."""
    match = re.search(r"<[^>?]*(\?[^>]*)>\s*;\s*rel=\"?next\"?", headers.get("link", ""))
    return match[1] if match else None
