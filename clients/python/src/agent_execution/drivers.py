"""Performs flows (`core/flow.py`) with httpx: synchronously, or with asyncio."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncGenerator, Awaitable, Generator
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx

from .core.call import Connection
from .core.flow import END, Broken, Effect, Emit, Flow, Invoke, Next, Read, Reply, Send, Sleep

T = TypeVar("T")
#: What httpx raises when a connection breaks, or its bytes make no sense.
BREAKS = (httpx.HTTPError, httpx.StreamError, OSError)
LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=20)


@dataclass(frozen=True)
class End:
    """What a flow has returned."""

    value: Any


def _step(flow: Flow[Any], result: Any, error: BaseException | None) -> Effect | End:
    try:
        return flow.send(result) if error is None else flow.throw(error)
    except StopIteration as end:
        return End(end.value)


def _build(http: httpx.Client | httpx.AsyncClient, connection: Connection, effect: Send) -> httpx.Request:
    request = effect.request
    headers = {"Authorization": f"Bearer {connection.token}", **request.headers}
    if request.body is not None:
        headers.setdefault("Content-Type", "application/json")
    timeout = httpx.Timeout(None if math.isinf(effect.timeout) else max(effect.timeout, 0.001))
    url = connection.base_url + request.path
    return http.build_request(request.method, url, headers=headers, content=request.body, timeout=timeout)


class SyncDriver:
    """Performs one effect after the other. One response is open at a time."""

    def __init__(self, connection: Connection, http: httpx.Client) -> None:
        self.connection = connection
        self.http = http

    def perform(self, flow: Flow[T]) -> T:
        """What the flow returns."""
        for item in self._effects(flow):
            if isinstance(item, End):
                value: T = item.value
                return value
        raise AssertionError("A flow without an end.")

    def iterate_flow(self, flow: Flow[Any]) -> Generator[Any]:
        """What the flow emits."""
        for item in self._effects(flow):
            if not isinstance(item, End):
                yield item

    def _effects(self, flow: Flow[Any]) -> Generator[Any]:
        response: httpx.Response | None = None
        result: Any = None
        error: BaseException | None = None
        try:
            while True:
                effect = _step(flow, result, error)
                result = error = None
                if isinstance(effect, Emit):
                    yield effect.item
                    continue
                if isinstance(effect, End):
                    yield effect
                    return
                if response and not isinstance(effect, Read):
                    response.close()
                try:
                    if isinstance(effect, Send):
                        response = self.http.send(_build(self.http, self.connection, effect), stream=True)
                        result = Reply(response.status_code, response.headers, response.iter_bytes())
                    else:
                        result = self._do(effect)
                except BREAKS as cause:
                    error = _broken(cause) if isinstance(effect, (Send, Read)) else cause
                except BaseException as cause:
                    error = cause
        finally:
            flow.close()
            if response:
                response.close()

    @staticmethod
    def _do(effect: Read | Sleep | Invoke | Next) -> Any:
        if isinstance(effect, Read):
            return next(effect.reply.handle, None)
        if isinstance(effect, Sleep):
            return time.sleep(effect.seconds)
        if isinstance(effect, Invoke):
            return effect.function(*effect.args)
        return next(effect.iterator, END)


class AsyncDriver:
    """The same with asyncio: callbacks and inputs can be asynchronous too."""

    def __init__(self, connection: Connection, http: httpx.AsyncClient) -> None:
        self.connection = connection
        self.http = http

    async def perform(self, flow: Flow[T]) -> T:
        """What the flow returns."""
        async for item in self._effects(flow):
            if isinstance(item, End):
                value: T = item.value
                return value
        raise AssertionError("A flow without an end.")

    async def iterate_flow(self, flow: Flow[Any]) -> AsyncGenerator[Any]:
        """What the flow emits."""
        items = self._effects(flow)
        try:
            async for item in items:
                if not isinstance(item, End):
                    yield item
        finally:
            await items.aclose()

    async def _effects(self, flow: Flow[Any]) -> AsyncGenerator[Any]:
        response: httpx.Response | None = None
        result: Any = None
        error: BaseException | None = None
        try:
            while True:
                effect = _step(flow, result, error)
                result = error = None
                if isinstance(effect, Emit):
                    yield effect.item
                    continue
                if isinstance(effect, End):
                    yield effect
                    return
                if response and not isinstance(effect, Read):
                    await response.aclose()
                try:
                    if isinstance(effect, Send):
                        response = await self.http.send(_build(self.http, self.connection, effect), stream=True)
                        result = Reply(response.status_code, response.headers, response.aiter_bytes())
                    else:
                        result = await self._do(effect)
                except BREAKS as cause:
                    error = _broken(cause) if isinstance(effect, (Send, Read)) else cause
                except BaseException as cause:
                    error = cause
        finally:
            flow.close()
            if response:
                await response.aclose()

    @staticmethod
    async def _do(effect: Read | Sleep | Invoke | Next) -> Any:
        if isinstance(effect, Read):
            return await anext(effect.reply.handle, None)
        if isinstance(effect, Sleep):
            return await asyncio.sleep(effect.seconds)
        if isinstance(effect, Invoke):
            result = effect.function(*effect.args)
            return await _within(effect.timeout, result) if hasattr(result, "__await__") else result
        if hasattr(effect.iterator, "__anext__"):
            return await _within(effect.timeout, anext(effect.iterator, END))
        return next(effect.iterator, END)


async def _within(timeout: float, work: Awaitable[Any]) -> Any:
    """Raises `Broken` after the time, with the exception of the work if it raised one itself."""
    try:
        return await asyncio.wait_for(work, None if math.isinf(timeout) else timeout)
    except asyncio.TimeoutError as cause:
        raise _broken(cause) from None


def _broken(cause: BaseException) -> Broken:
    broken = Broken(str(cause))
    broken.__cause__ = cause
    return broken


