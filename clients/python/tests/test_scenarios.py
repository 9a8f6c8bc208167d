"""`clients/scenarios.json`: what the client in TypeScript does too. Each scenario runs with both clients."""

from __future__ import annotations

import asyncio
import json
import random
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from agent_execution import AgentError, AsyncClient, Client, InvalidWebhook, parse_webhook
from agent_execution.core.partial import parse_partial
from scripted_service import scripted_service

TABLE = json.loads((Path(__file__).parents[2] / "scenarios.json").read_text("utf-8"))
SCENARIOS = [
    {**scenario, **variant, "name": f"{scenario['name']} {variant.get('name', '')}".strip()}
    for scenario in TABLE["scenarios"]
    for variant in scenario.get("each", [{}])
]
ITERATORS = ("stream", "events", "batch", "agents")


def to_snake(options: dict[str, Any]) -> dict[str, Any]:
    seconds = {"timeout": options["timeoutMs"] / 1000} if "timeoutMs" in options else {}
    others = {re.sub("[A-Z]", lambda m: "_" + m[0].lower(), name): value for name, value in options.items()}
    others.pop("timeout_ms", None)
    return {**others, **seconds}


def arguments_of(scenario: dict[str, Any], told: list[Any]) -> tuple[list[Any], dict[str, Any]]:
    call = scenario["call"]
    args, options = list(call.get("args", [])), to_snake(call.get("options", {}))
    if call["method"] == "decide":
        decision = args.pop()
        args.append(decision.pop("decision"))
        options.update(decision)
    if "told" in scenario:
        options["on_waiting"] = lambda waits, execution: told.append([wait["name"] for wait in waits])
    return args, options


def run_sync(scenario: dict[str, Any], base_url: str, items: list[Any], told: list[Any]) -> Any:
    args, options = arguments_of(scenario, told)
    http = httpx.Client(verify=False)  # Loading the certificates takes longer than all requests.
    with http, Client(base_url, "aes_test", http=http, **to_snake(scenario.get("client", {}))) as client:
        result = getattr(client, scenario["call"]["method"])(*args, **options)
        if scenario["call"]["method"] in ITERATORS:
            for item in result:
                items.append(item)
        return result


def run_async(scenario: dict[str, Any], base_url: str, items: list[Any], told: list[Any]) -> Any:
    async def main() -> Any:
        args, options = arguments_of(scenario, told)
        if (tell := options.get("on_waiting")) is not None:

            async def on_waiting(*args: Any) -> None:
                tell(*args)

            options["on_waiting"] = on_waiting
        http = httpx.AsyncClient(verify=False)
        async with http, AsyncClient(base_url, "aes_test", http=http, **to_snake(scenario.get("client", {}))) as client:
            result = getattr(client, scenario["call"]["method"])(*args, **options)
            if scenario["call"]["method"] not in ITERATORS:
                return await result
            async for item in result:
                items.append(item)

    return asyncio.run(main())


@pytest.mark.parametrize("run", [run_sync, run_async])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario["name"])
def test_scenario(scenario: dict[str, Any], run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random, "random", lambda: 0)
    scenario = json.loads(json.dumps(scenario))
    items: list[Any] = []
    told: list[Any] = []
    with scripted_service(scenario["answers"]) as service:
        if "error" in scenario:
            with pytest.raises(AgentError) as raised:
                run(scenario, service.base_url, items, told)
            error = raised.value
            assert {**error.members, "status": error.status}.items() >= scenario["error"].items()
        else:
            result = run(scenario, service.base_url, items, told)
            if "result" in scenario:
                assert result == scenario["result"]
        requests = list(service.requests)
    if "items" in scenario:
        streams = scenario["call"]["method"] in ("stream", "events")
        assert [[item["event"], item["data"]] if streams else item for item in items] == scenario["items"]
    assert told == scenario.get("told", [])
    check_requests(requests, scenario)


def check_requests(requests: list[dict[str, Any]], scenario: dict[str, Any]) -> None:
    if scenario.get("sameKey"):
        posts = [request for request in requests if "idempotency-key" in request["headers"]]
        assert len({(request["headers"]["idempotency-key"], request["body"]) for request in posts}) == 1
    expected = scenario.get("requests")
    if isinstance(expected, int):
        assert len(requests) == expected
    elif expected is not None:
        rows = [
            row["request"] if isinstance(row, dict) else row
            for row in expected
            for _ in range(row["times"] if isinstance(row, dict) else 1)
        ]
        assert len(requests) == len(rows)
        for request, (method, path, headers, body) in zip(requests, ([*row, *[None] * (4 - len(row))] for row in rows)):
            assert method is None or request["method"] == method
            assert path is None or request["path"] == path
            for name, value in (headers or {}).items():
                given = request["headers"].get(name)
                assert re.search(value["match"], given or "") if isinstance(value, dict) else given == value
            if isinstance(body, str):
                assert request["body"] == body
            elif isinstance(body, list):
                assert [json.loads(line) for line in request["body"].splitlines()] == body
            elif body is not None:
                assert json.loads(request["body"]) == body


@pytest.mark.parametrize(("text", "expected"), TABLE["partial"])
def test_parse_partial(text: str, expected: Any) -> None:
    assert parse_partial(text, json.loads) == expected


@pytest.mark.parametrize("row", TABLE["webhooks"], ids=lambda row: row["name"])
def test_parse_webhook(row: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_execution.core.webhook.time.time", lambda: TABLE["now"])
    for body in (row["body"], row["body"].encode()):
        if row["reason"] is None:
            assert parse_webhook(body, row["headers"], row["secret"])["data"]
            continue
        with pytest.raises(InvalidWebhook) as raised:
            parse_webhook(body, row["headers"], row["secret"])
        assert raised.value.reason == row["reason"]
