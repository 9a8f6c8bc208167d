"""
A remote agent that may be killed at any moment: its effects, and the callbacks that it owes, are in a database. Inputs
with `isLong` are answered with 202.
"""

import asyncio
import json
import os
import sqlite3
from typing import Any

from agent_execution.core.webhook import verify
from agent_execution.server import Context, agent
from agent_execution.server.callback import deliver

database = sqlite3.connect(os.environ["DATABASE"], isolation_level=None, check_same_thread=False, timeout=30)
database.execute("PRAGMA journal_mode = WAL")
database.execute("CREATE TABLE IF NOT EXISTS effects (key TEXT PRIMARY KEY, answer TEXT)")
database.execute("CREATE TABLE IF NOT EXISTS owed (url TEXT PRIMARY KEY, key TEXT)")
tasks: dict[str, "asyncio.Task[None]"] = {}


def happen(key: str, number: int) -> dict[str, str]:
    database.execute("INSERT OR IGNORE INTO effects VALUES (?, ?)", (key, f"Effect of {number}"))
    ((answer,),) = database.execute("SELECT answer FROM effects WHERE key = ?", (key,)).fetchall()
    return {"answer": answer}


async def run(input: dict[str, Any], context: Context) -> dict[str, str]:
    context.step_log("begin", {"number": input["number"]})
    await asyncio.sleep(0.05)
    output = happen(context.execution.id, input["number"])
    context.step_log("end", output)
    return output


short = agent(run)


async def pay(url: str, key: str) -> None:
    await asyncio.sleep(0.1)
    ((answer,),) = database.execute("SELECT answer FROM effects WHERE key = ?", (key,)).fetchall()
    await deliver(url, {"output": {"answer": answer}}, key)
    database.execute("DELETE FROM owed WHERE url = ?", (url,))


def owe(url: str, key: str) -> None:
    if url not in tasks:
        tasks[url] = asyncio.ensure_future(pay(url, key))


async def app(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        for url, key in database.execute("SELECT url, key FROM owed").fetchall():
            owe(url, key)
        return await short(scope, receive, send)
    first = await receive()
    body = json.loads(first["body"])
    if not body["input"].get("isLong"):
        messages = [first]

        async def again() -> Any:
            return messages.pop() if messages else await receive()

        return await short(scope, again, send)
    verify(first["body"], scope["headers"], [os.environ["AGENT_EXECUTION_SECRET"]])
    url, key = body["callbackUrl"], body["execution"]["id"]
    happen(key, body["input"]["number"])
    database.execute("INSERT OR IGNORE INTO owed VALUES (?, ?)", (url, key))
    owe(url, key)
    await send({"type": "http.response.start", "status": 202, "headers": []})
    await send({"type": "http.response.body", "body": b""})
