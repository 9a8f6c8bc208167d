"""What an agent function gets beside its input."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class Execution:
    """The run. `id` is the same for all attempts: use it as the idempotency key of effects."""

    id: str
    agent: str
    version: str
    tenant_id: str | None
    attempt: int


class AgentFailure(Exception):
    """Ends the run in `AgentFailed` with this message. `retryable`: the service tries again, within its time limit."""

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable


class Context:
    """Reports what happens, and tells how long the service waits. Its methods can be called from any thread."""

    def __init__(self, execution: Execution, emit: Callable[[dict[str, Any]], None]) -> None:
        self.execution = execution
        #: When the service stops waiting for an answer. None without a limit, as after 202.
        self.deadline: datetime | None = None
        self._emit = emit
        self._cancelled = threading.Event()

    @property
    def cancelled(self) -> bool:
        """Whether the run was cancelled. An asynchronous function is cancelled as a task, too."""
        return self._cancelled.is_set()

    def wait_cancelled(self, seconds: float) -> bool:
        """Blocks a synchronous function until the run is cancelled, at most so long."""
        return self._cancelled.wait(seconds)

    def cancel(self) -> None:
        """Tells the function that its run was cancelled."""
        self._cancelled.set()

    def step_log(self, name: str, detail: Any = None) -> None:
        """A step of the record. `detail`: any JSON."""
        self._emit({"step": {"name": name} if detail is None else {"name": name, "detail": detail}})

    def log(self, message: str, level: str = "info") -> None:
        """A line of the log of the record."""
        self._emit({"log": {"level": level, "message": message}})

    def usage(self, model: str, input_tokens: int, output_tokens: int) -> None:
        """Tokens that a model has used. They count in the budgets, the limits and the usage of the service."""
        self._emit({"usage": {"model": model, "inputTokens": input_tokens, "outputTokens": output_tokens}})

    def delta(self, text: str) -> None:
        """A piece of what a model is writing, for those who follow the run."""
        self._emit({"delta": text})
