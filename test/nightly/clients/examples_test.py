"""`examples/python`, with requests that are signed here."""

import asyncio
import importlib.util
import json
from pathlib import Path
from types import ModuleType

import httpx
import pytest
from agent_execution.core.webhook import sign
from asgi import SECRET, body_of, post

EXAMPLES = Path(__file__).parents[3] / "examples/python"


def load(name: str, monkeypatch: pytest.MonkeyPatch, **variables: str) -> ModuleType:
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    spec = importlib.util.spec_from_file_location(name.replace("-", "_"), EXAMPLES / name / "main.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_typed_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    app = load("typed-agent", monkeypatch, AGENT_EXECUTION_SECRET=SECRET).app

    async def main() -> None:
        for order, refund, usd in (("o-1", True, 20), ("o-2", False, 900)):
            exchange = await post(app, body_of({"order_id": order, "message": "It broke."}, order))
            *events, last = exchange.lines
            assert last == {"output": {"refund": refund, "usd": usd}}
            assert [next(iter(event)) for event in events] == ["usage", "step"]
            assert events[0]["usage"]["inputTokens"] > 0
        assert (await post(app, body_of({"message": "It broke."}, "e3"))).status == 422

    asyncio.run(main())


def test_long_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    module = load("long-agent", monkeypatch, AGENT_EXECUTION_SECRET=SECRET)
    delivered = []

    def receive(request: httpx.Request) -> httpx.Response:
        delivered.append(json.loads(request.content))
        return httpx.Response(204)

    async def main() -> None:
        app = module.agent(module.run, new_client=lambda: httpx.AsyncClient(transport=httpx.MockTransport(receive)))
        body = body_of({"seconds": 0.5}, callbackUrl="https://service.example/callback")
        exchange = await post(app, body, {"Execution-Deadline": "2020-01-01T00:00:00.000Z"})
        assert exchange.status == 202
        while not delivered:
            await asyncio.sleep(0.01)
        assert delivered == [{"output": {"waitedSeconds": 0.5}}]

    asyncio.run(main())


def test_webhook_receiver(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    app = load("webhook-receiver", monkeypatch, WEBHOOK_SECRET=f"whsec_{'b' * 32} {SECRET}").app
    body = json.dumps({"type": "execution.succeeded", "data": {"id": "e1"}}).encode()

    async def main() -> None:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://receiver") as http:
            for id, status in (("m1", 204), ("m1", 204), ("m2", 204)):
                assert (await http.post("/", content=body, headers=sign(body, SECRET, id))).status_code == status
            assert (await http.post("/", content=body + b" ", headers=sign(body, SECRET, "m3"))).status_code == 400

    asyncio.run(main())
    assert capsys.readouterr().out == "execution.succeeded e1\n" * 2
