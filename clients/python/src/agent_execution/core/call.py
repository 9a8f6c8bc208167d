"""One call of a method: all its requests share a deadline."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..errors import AgentError, to_error
from .flow import Flow, Sleep

DEFAULT_TIMEOUT = 600.0
#: What ends a call from outside.
ABORTS = (KeyboardInterrupt, asyncio.CancelledError)


@dataclass(frozen=True)
class Connection:
    """How requests are sent: the options of a client, checked."""

    base_url: str
    token: str = field(repr=False)
    timeout: float | None = None
    max_retries: float = 20
    loads: Callable[[str], Any] = json.loads
    dumps: Callable[[Any], str] = lambda value: json.dumps(value, default=to_jsonable, ensure_ascii=False, allow_nan=False)
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        if not re.fullmatch(r"https?://[^?#\s]+", self.base_url):
            raise ValueError(f"base_url must be a URL such as https://agents.example.com, not {self.base_url!r}.")
        if not self.token:
            raise ValueError("token must be an API token.")
        check_header("token", self.token)
        if not self.max_retries >= 0:
            raise ValueError(f"max_retries must be a number from 0, not {self.max_retries}.")
        object.__setattr__(self, "base_url", re.sub(r"(/v1)?/*$", "", self.base_url))

    def open(self, timeout: float | None, default: float | None = None) -> Call:
        """A call that ends after `timeout` seconds, by default after those of the client."""
        fallback = default if default is not None else self.timeout if self.timeout is not None else DEFAULT_TIMEOUT
        return Call(self.clock, fallback if timeout is None else timeout)


class Call:
    """`execution_id`: what the call waits for, as soon as it is known. `last_error`: was followed by a retry."""

    def __init__(self, clock: Callable[[], float], timeout: float) -> None:
        if not timeout > 0:
            raise ValueError(f"timeout must be a number of seconds above 0, not {timeout}.")
        self._clock = clock
        self._timeout = timeout
        self.ends_at = clock() + timeout
        self.execution_id: str | None = None
        self.last_error: AgentError | None = None

    @property
    def remaining(self) -> float:
        """Seconds until the deadline, which can be infinite."""
        return self.ends_at - self._clock()

    def check(self) -> None:
        """Raises `ClientTimeout` after the deadline."""
        if self.remaining > 0:
            return
        detail = f"The call did not end within {self._timeout:g} seconds."
        known = {} if self.execution_id is None else {"executionId": self.execution_id}
        raise to_error({"code": "ClientTimeout", "detail": detail, **known}) from self.last_error

    def sleep(self, seconds: float) -> Flow[None]:
        """Waits, at most until the deadline, which is an error."""
        yield Sleep(max(min(seconds, self.remaining), 0))
        self.check()


def check_header(name: str, value: str) -> None:
    """Raises ValueError for what no header can have: sending it would fail like a broken connection."""
    if not re.fullmatch(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?", value):
        raise ValueError(f"{name} must be printable ASCII without spaces around it.")


def to_jsonable(value: Any) -> Any:
    """For `json.dumps`: what models of pydantic are in JSON."""
    dump = getattr(value, "model_dump", None)
    if dump is not None:
        return dump(mode="json", by_alias=True)
    raise TypeError(f"A value of type {type(value).__name__} has no JSON: {value!r:.80}")


def to_output(value: Any, model: Any, execution_id: str | None) -> Any:
    """The output as an instance of a model of pydantic; unchanged for other types."""
    validate = getattr(model, "model_validate", None)
    if validate is None:
        return value
    try:
        return validate(value)
    except ValueError as error:
        detail = f"The output does not match {model.__name__}: {error}"
        known = {} if execution_id is None else {"executionId": execution_id}
        raise to_error({"code": "UnexpectedResponse", "status": 200, "detail": detail, **known}) from error

