"""What a remote agent remembers of its requests."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import Protocol

from ..core.webhook import MAX_AGE_SECONDS


class Store(Protocol):
    """For agents with several processes: an implementation in a database that they share."""

    async def claim(self, webhook_id: str) -> bool:
        """Whether the ID of a request is new. It has to be kept for ten minutes."""
        ...

    async def load(self, execution_id: str) -> bytes | None:
        """The answer of a run that has ended."""
        ...

    async def save(self, execution_id: str, answer: bytes) -> None:
        """Keeps the answer of a run."""
        ...


class MemoryStore:
    """Keeps the last answers of one process, as far as their number and size allow."""

    def __init__(self, max_answers: int = 1_000, max_bytes: int = 50_000_000, max_ids: int = 100_000) -> None:
        self._max_answers, self._max_bytes, self._max_ids = max_answers, max_bytes, max_ids
        self._ids: OrderedDict[str, float] = OrderedDict()
        self._answers: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0

    async def claim(self, webhook_id: str) -> bool:
        """Whether the ID is new. An older request than the limit of the age is refused anyway."""
        now = time.monotonic()
        # The clocks of the two can differ by the limit in each direction.
        while self._ids and (next(iter(self._ids.values())) < now - 2 * MAX_AGE_SECONDS or len(self._ids) > self._max_ids):
            self._ids.popitem(last=False)
        if webhook_id in self._ids:
            return False
        self._ids[webhook_id] = now
        return True

    async def load(self, execution_id: str) -> bytes | None:
        """The answer, if it is still kept."""
        return self._answers.get(execution_id)

    async def save(self, execution_id: str, answer: bytes) -> None:
        """Drops the oldest answers."""
        self._bytes += len(answer) - len(self._answers.pop(execution_id, b""))
        self._answers[execution_id] = answer
        while self._bytes > self._max_bytes or len(self._answers) > self._max_answers:
            self._bytes -= len(self._answers.popitem(last=False)[1])
