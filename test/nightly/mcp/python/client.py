"""The official Python client against the URL of a service: python client.py <url> <token> <mode>. Prints one JSON document."""

import asyncio
import json
import sys

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

url, token, mode = sys.argv[1:]


async def main() -> dict:
    progress = []

    async def on_progress(done: float, total: float | None, message: str | None) -> None:
        progress.append(done)

    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60)
    async with Client(streamable_http_client(f"{url}/v1/mcp", http_client=http), mode=mode) as client:
        tools = await client.list_tools()
        steps = {"marker": "m", "number": 2, "steps": 3, "pauseMs": 0, "log": "/dev/null"}
        called = await client.call_tool("marked-steps", steps, progress_callback=on_progress)
        mismatch = await client.call_tool("marked-steps", {"steps": 3})
        pending = await client.call_tool("counted", {"log": "/dev/null", "ms": 5_000})
        execution_id = pending.structured_content["executionId"]
        status = "IN_PROGRESS"
        while status == "IN_PROGRESS":
            found = await client.call_tool("get_execution", {"executionId": execution_id, "waitSeconds": 2})
            status = found.structured_content["status"]
        slow = await client.call_tool("counted", {"log": "/dev/null", "ms": 600_000})
        cancelled = await client.call_tool("cancel_execution", {"executionId": slow.structured_content["executionId"]})
        return {
            "version": client.protocol_version,
            "tools": [tool.name for tool in tools.tools],
            "progress": progress,
            "called": called.structured_content,
            "mismatch": [mismatch.is_error, mismatch.content[0].text],
            "pending": [pending.is_error, pending.structured_content["status"]],
            "resumed": status,
            "cancelled": cancelled.structured_content["error"]["code"],
        }


print(json.dumps(asyncio.run(main())))
