"""Requests to an ASGI app, signed as the service signs them."""

from __future__ import annotations

import asyncio
import json
import uuid
from typing import Any

from agent_execution.core.webhook import sign

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def body_of(input: Any, id: str = "e1", **more: Any) -> bytes:
    execution = {"id": id, "agent": "refund", "version": "v1", "attempt": 1}
    return json.dumps({"input": input, "execution": execution, **more}).encode()


class Exchange:
    """`closed`: set it to close the connection. `started`: when the head of the response has been sent."""

    def __init__(self, body: bytes, headers: dict[str, str] | None = None, path: str = "/run", **options: Any) -> None:
        id = options.get("webhook_id", uuid.uuid4().hex)
        signed = sign(options.get("signed", body), options.get("secret", SECRET), id)
        self.scope = {
            "type": "http",
            "method": options.get("method", "POST"),
            "path": path,
            "headers": [(k.encode(), v.encode()) for k, v in {**signed, **(headers or {})}.items() if v],
        }
        self.parts = [body[i : i + 1_000_000] for i in range(0, len(body), 1_000_000)] or [b""]
        self.closed, self.started, self.received = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.status = 0
        self.type = b""
        self.body = b""

    async def receive(self) -> dict[str, Any]:
        if self.parts:
            part = self.parts.pop(0)
            return {"type": "http.request", "body": part, "more_body": bool(self.parts)}
        await self.closed.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.type = dict(message["headers"]).get(b"content-type", b"")
            self.started.set()
        else:
            self.body += message["body"]
            self.received.set()

    async def run(self, app: Any) -> "Exchange":
        await app(self.scope, self.receive, self.send)
        return self

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.body.splitlines()]


async def post(app: Any, body: bytes, headers: dict[str, str] | None = None, **options: Any) -> Exchange:
    return await Exchange(body, headers, **options).run(app)
