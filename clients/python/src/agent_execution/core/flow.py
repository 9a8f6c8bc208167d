"""
Effects. A flow is a generator: it yields an effect, and gets its result or its exception. All rules of the client are
flows, which the synchronous and the asynchronous client perform (`drivers.py`), and tests without any network.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, Union

T = TypeVar("T")


class Broken(Exception):
    """The connection broke or stayed silent for too long; `__cause__` is how."""


@dataclass(frozen=True)
class Request:
    """`path`: from `/v1` on, with the query. `once`: not repeated, because it may have been executed."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=lambda: dict[str, str]())
    body: bytes | None = None
    max_silence: float = 60
    once: bool = False


@dataclass
class Reply:
    """The head of a response, whose body is read piece by piece. `handle` belongs to the driver."""

    status: int
    headers: Mapping[str, str]
    handle: Any = None


@dataclass(frozen=True)
class Send:
    """Sends a request, and returns its `Reply`. `timeout`: how long the connection may be silent, in seconds."""

    request: Request
    timeout: float


@dataclass(frozen=True)
class Read:
    """The next bytes of a body; None at its end."""

    reply: Reply


@dataclass(frozen=True)
class Sleep:
    seconds: float


@dataclass(frozen=True)
class Invoke:
    """Calls a function of the caller, and waits for its result. Its exception goes through."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    timeout: float


#: What `Next` returns after the last item.
END: Any = object()


@dataclass(frozen=True)
class Next:
    """The next item of an iterator or an asynchronous iterator of the caller, or `END`."""

    iterator: Any
    timeout: float


@dataclass(frozen=True)
class Emit:
    """Gives an item to whoever iterates."""

    item: Any


Effect = Union[Send, Read, Sleep, Invoke, Next, Emit]
Flow = Generator[Effect, Any, T]
