"""Delivers the answer of a run that was accepted with 202."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

import httpx

from ..core.request import backoff, read_retry_after
from .function import Answer, to_bytes, to_error

logger = logging.getLogger("agent_execution")
#: What the service accepts.
MAX_CALLBACK_BYTES = 6_000_000
#: How long it is tried.
GIVE_UP_SECONDS = 3_600.0
#: Between two attempts.
MAX_PAUSE_SECONDS = 60.0
RETRYABLE = (408, 425, 429)


async def deliver(
    url: str, answer: Answer, execution_id: str, new_client: Callable[[], httpx.AsyncClient] = httpx.AsyncClient
) -> bool:
    """Sends an answer until it has arrived. A repeat changes nothing. False if the service does not take it."""
    body = to_bytes(answer)
    if len(body) > MAX_CALLBACK_BYTES:
        body = to_bytes(to_error(f"The output has {len(body)} bytes of JSON; at most {MAX_CALLBACK_BYTES} are allowed."))
    ends_at = time.monotonic() + GIVE_UP_SECONDS
    attempt = 0
    async with new_client() as http:
        while True:
            pause = min(backoff(attempt) * 2**attempt, MAX_PAUSE_SECONDS) if attempt < 10 else MAX_PAUSE_SECONDS
            attempt += 1
            try:
                reply = await http.post(url, content=body, headers={"Content-Type": "application/json"}, timeout=30)
                if reply.is_success:
                    return True
                if reply.status_code < 500 and reply.status_code not in RETRYABLE:
                    logger.error("The answer of execution %s was refused with %d.", execution_id, reply.status_code)
                    return False
                pause += min(read_retry_after(reply.headers) or 0, MAX_PAUSE_SECONDS)
            except (httpx.HTTPError, OSError):
                pass
            if time.monotonic() + pause > ends_at:
                logger.error("The answer of execution %s could not be delivered.", execution_id)
                return False
            await asyncio.sleep(pause)
