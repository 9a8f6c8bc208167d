"""What calls raise: one tree, whose errors have the codes of the service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .core.values import as_list, as_object


class AgentError(Exception):
    """An error of a call. Branch on the class or on `code`; the text is for people. `__cause__`: what happened last."""

    def __init__(self, members: Mapping[str, Any]) -> None:
        """`members`: problem details (RFC 9457) with at least `code` and `detail`."""
        super().__init__(members)
        self.members: dict[str, Any] = dict(members)
        self.code: str = self.members["code"]
        self.detail: str = self.members["detail"]
        #: The HTTP status. 0 without a response.
        self.status: int = self.members.get("status", 0)
        #: The ID of the request. Quote it when you ask for support.
        self.instance: str | None = self.members.get("instance")
        #: The execution that the error is about, if it is known.
        self.execution_id: str | None = self.members.get("executionId")
        #: When the service asks to come back, in seconds.
        self.retry_after: float | None = None

    def __str__(self) -> str:
        return f"{self.code}: {self.detail}"

    @property
    def errors(self) -> list[dict[str, Any]]:
        """The individual violations, with `path` and `message`; empty for errors without any."""
        return as_list(self.members.get("errors")) or []


class ConnectionFailed(AgentError):
    """No complete response."""


class ClientTimeout(AgentError):
    """The deadline of the call has passed. `execution_id`: what it was waiting for, if that is known."""


class UnexpectedResponse(AgentError):
    """Not what the service sends, for example the page of a proxy; or an output that its model does not accept."""


class InvalidWebhook(AgentError):
    """A request that is not signed by the service, too old, or no event: `reason` says which."""

    @property
    def reason(self) -> str:
        """`headers` (one is missing), `timestamp`, `signature` or `body`."""
        return str(self.members["reason"])


class ExecutionFailed(AgentError):
    """The execution ended in ERROR. `error` says why, by a code of its own."""

    @property
    def error(self) -> dict[str, Any]:
        """Why it failed: `code`, `message` and more."""
        return as_object(self.members.get("error")) or {}


class InvalidRequest(AgentError):
    """400, 413, 415, 422: the request has to change. `errors` says where."""


class InputSchemaMismatch(InvalidRequest, ExecutionFailed):
    """The input does not match the schema of the agent. With an `execution_id`, the agent failed on it."""


class AccessDenied(AgentError):
    """401, 403: the token is not valid, or may not do this."""


class NotFound(AgentError):
    """404, 410: it does not exist, or not any more."""


class Conflict(AgentError):
    """409: the state does not allow it."""


class TooManyRequests(AgentError):
    """429: a limit is reached."""


class ServiceFailed(AgentError):
    """5xx: the service cannot answer now."""


_BY_CODE: dict[str, type[AgentError]] = {
    each.__name__: each
    for each in (ConnectionFailed, ClientTimeout, UnexpectedResponse, InvalidWebhook, ExecutionFailed, InputSchemaMismatch)
}
_BY_STATUS: dict[int, type[AgentError]] = {
    **dict.fromkeys((400, 413, 415, 422), InvalidRequest),
    **dict.fromkeys((401, 403), AccessDenied),
    **dict.fromkeys((404, 410), NotFound),
    409: Conflict,
    429: TooManyRequests,
}


def to_error(members: Mapping[str, Any]) -> AgentError:
    """The error of the class that the code, or else the status, has."""
    status = members.get("status", 0)
    fallback = ServiceFailed if status >= 500 else AgentError
    return _BY_CODE.get(members["code"], _BY_STATUS.get(status, fallback))(members)
