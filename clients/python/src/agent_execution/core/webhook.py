"""Signatures of Standard Webhooks 1.0.0: of what the service sends, webhooks and requests to remote agents."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from ..errors import AgentError, to_error
from .values import as_list, as_object

MAX_AGE_SECONDS = 300
#: By the specification.
MIN_KEY_BYTES = 24


def parse_webhook(
    body: bytes | bytearray | str,
    headers: Mapping[str, Any] | Iterable[tuple[Any, Any]],
    secret: str | Iterable[str],
    loads: Callable[[str], Any] = json.loads,
) -> dict[str, Any]:
    """
    Verifies the signature of a webhook and returns its event. `webhook-id` is the same for all attempts to deliver it.

    `body`: as it was received, not parsed. `secret`: `whsec_…`, or several of them of which one has to match. Raises
    `InvalidWebhook`, whose `reason` says what is wrong; ValueError if the secret is not valid, TypeError if the body is
    not text or bytes.
    """
    content = verify(body, headers, secret)
    cause: Exception | None = None
    try:
        event = as_object(loads(content.decode("utf-8"))) or {}
        if event.get("type") and event.get("data"):
            return event
    except (ValueError, RecursionError) as error:
        cause = error
    raise invalid("body", "The body is not an event.") from cause


def verify(
    body: bytes | bytearray | str,
    headers: Mapping[str, Any] | Iterable[tuple[Any, Any]],
    secret: str | Iterable[str],
) -> bytes:
    """The body, if its signature and its age are right. Raises like `parse_webhook`."""
    keys = to_keys(secret)
    if not isinstance(body, (bytes, bytearray, str)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError("body must be text or bytes, as it was received.")
    content = body.encode() if isinstance(body, str) else bytes(body)
    all_headers = _lower(headers)
    id, timestamp, signatures = (_read(all_headers, f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    try:
        # NaN is not within the limit.
        is_fresh = abs(time.time() - float(timestamp)) <= MAX_AGE_SECONDS
    except ValueError:
        is_fresh = False
    if not is_fresh:
        raise invalid("timestamp", f"webhook-timestamp is not within {MAX_AGE_SECONDS} seconds of now.")
    signed = f"{id}.{timestamp}.".encode("utf-8", "surrogateescape") + content
    expected = [base64.b64encode(hmac.digest(key, signed, hashlib.sha256)) for key in keys]
    given = [part[3:].encode("utf-8", "surrogateescape") for part in signatures.split(" ") if part.startswith("v1,")]
    if not any([hmac.compare_digest(one, other) for one in expected for other in given]):
        raise invalid("signature", "webhook-signature does not match the body and the secret.")
    return content


def sign(body: bytes, secret: str, id: str) -> dict[str, str]:
    """The headers of a signed request, for tests of agents and of receivers."""
    timestamp = str(int(time.time()))
    digest = hmac.digest(to_keys(secret)[0], f"{id}.{timestamp}.".encode() + body, hashlib.sha256)
    signature = "v1," + base64.b64encode(digest).decode()
    return {"webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature}


def to_keys(secret: str | Iterable[str]) -> list[bytes]:
    """The keys of secrets. Raises ValueError if there are none, or one is not valid."""
    secrets = [secret] if isinstance(secret, str) else list(secret or ())
    try:
        keys = [base64.b64decode(str(each).removeprefix("whsec_"), validate=True) for each in secrets]
    except (binascii.Error, ValueError):
        keys = []
    if not keys or min(map(len, keys)) < MIN_KEY_BYTES:
        raise ValueError("secret must be a text such as whsec_…, or a list of them.")
    return keys


def invalid(reason: str, detail: str) -> AgentError:
    """The error of a webhook."""
    return to_error({"code": "InvalidWebhook", "reason": reason, "detail": detail})


def _lower(headers: Mapping[str, Any] | Iterable[tuple[Any, Any]]) -> dict[str, str]:
    """By lower-case name. ASGI has pairs of bytes."""
    pairs: Iterable[tuple[Any, Any]] = cast("Mapping[str, Any]", headers).items() if isinstance(headers, Mapping) else headers
    return {_to_text(name).lower(): _to_text(value) for name, value in pairs}


def _to_text(value: Any) -> str:
    values = as_list(value)
    if values is not None:
        return _to_text(values[0]) if values else ""
    return value.decode("latin-1") if isinstance(value, bytes) else "" if value is None else str(value)


def _read(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name)
    if value:
        return value
    raise invalid("headers", f"The header {name} is missing.")
