"""A run of an agent in this process, which outlives the requests that wait for it."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

from .context import Context, Execution
from .function import AgentFunction, Answer, to_bytes

#: Lines that wait for a slow reader. Beyond, only usage is kept.
MAX_PENDING_BYTES = 10_000_000
#: How long a run goes on when nobody waits for it: the service comes back after a broken connection.
GRACE_SECONDS = 60.0


class Job:
    """`changed` is set when there are lines, the answer, or another request that has taken over."""

    def __init__(self, execution: Execution) -> None:
        self._loop = asyncio.get_running_loop()
        self.context = Context(execution, self._emit)
        self.lines: deque[bytes] = deque()
        self.answer: Answer | None = None
        self.changed = asyncio.Event()
        #: Whether a request was answered with 202, or told to come back for it.
        self.is_long = False
        self.callback_url: str | None = None
        self._pending_bytes = 0
        self._listener: object = None
        self._task: asyncio.Task[Answer] | None = None
        self._is_cancellable = False
        self._grace: asyncio.TimerHandle | None = None

    async def run(self, function: AgentFunction, input: Any) -> Answer:
        """Runs the function, once."""
        self._is_cancellable = function.is_async
        self._task = asyncio.ensure_future(function.answer(input, self.context))
        self.answer = await self._task
        self.changed.set()
        return self.answer

    def listen(self) -> object:
        """A request takes over: the one before it ends."""
        self._listener = object()
        if self._grace:
            self._grace.cancel()
        self.changed.set()
        return self._listener

    def is_listener(self, listener: object) -> bool:
        """Whether no later request has taken over."""
        return self._listener is listener

    def leave(self, listener: object) -> None:
        """The request has ended without an answer. Unless another one comes, the run is cancelled."""
        if not self.is_listener(listener):
            return
        self._listener = None
        if self.answer is None and self.callback_url is None:
            self._grace = self._loop.call_later(GRACE_SECONDS, self.cancel)

    def cancel(self) -> None:
        """Tells the function, and cancels it if it is asynchronous. A thread cannot be ended."""
        self.context.cancel()
        if self._task and self._is_cancellable:
            self._task.cancel()

    @property
    def is_alone(self) -> bool:
        """Whether no request is there to take the lines."""
        return self._listener is None

    def take_lines(self) -> bytes:
        """What the next piece of a stream consists of."""
        data = b"".join(self.lines)
        self.lines.clear()
        self._pending_bytes = 0
        return data

    def _emit(self, event: dict[str, Any]) -> None:
        line = to_bytes(event) + b"\n"
        is_usage = "usage" in event
        self._loop.call_soon_threadsafe(self._add, line, is_usage)

    def _add(self, line: bytes, is_usage: bool) -> None:
        if self.is_long or (self._pending_bytes > MAX_PENDING_BYTES and not is_usage):
            return
        self._pending_bytes += len(line)
        self.lines.append(line)
        self.changed.set()
