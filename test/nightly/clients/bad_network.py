"""Runs an agent 300 times through a bad network, half of them with each client, and follows 20 streams."""

import asyncio
import json
import os
from concurrent.futures import ThreadPoolExecutor

from agent_execution import AsyncClient, Client

RUNS, STREAMS = 150, 10
URL, TOKEN = os.environ["BASE_URL"], os.environ["API_TOKEN"]


def run(client: Client, number: int) -> bool:
    return client.run("echo", {"text": f"sync {number}"}) == {"text": f"sync {number}"}


def steps_of(client: Client) -> list[str]:
    events = client.stream("three-steps", {"log": "/dev/null"})
    return [event["event"] for event in events if event["event"] in ("step", "done")]


async def main() -> tuple[int, list[list[str]]]:
    async with AsyncClient(URL, TOKEN) as client:

        async def run_async(number: int) -> bool:
            return await client.run("echo", {"text": f"async {number}"}) == {"text": f"async {number}"}

        async def steps() -> list[str]:
            events = client.stream("three-steps", {"log": "/dev/null"})
            return [event["event"] async for event in events if event["event"] in ("step", "done")]

        right = 0
        for start in range(0, RUNS, 30):
            right += sum(await asyncio.gather(*(run_async(number) for number in range(start, start + 30))))
        return right, [await steps() for _ in range(STREAMS)]


with Client(URL, TOKEN) as client, ThreadPoolExecutor(20) as threads:
    right = sum(threads.map(lambda number: run(client, number), range(RUNS)))
    streams = [steps_of(client) for _ in range(STREAMS)]
right_async, streams_async = asyncio.run(main())
print(json.dumps({"right": right + right_async, "streams": streams + streams_async}))
