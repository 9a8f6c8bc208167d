"""The client of the Agent Execution Service, and a server for agents in Python (`agent_execution.server`)."""

from .client import AsyncClient, Client
from .core.webhook import parse_webhook
from .errors import (
    AccessDenied,
    AgentError,
    ClientTimeout,
    Conflict,
    ConnectionFailed,
    ExecutionFailed,
    InputSchemaMismatch,
    InvalidRequest,
    InvalidWebhook,
    NotFound,
    ServiceFailed,
    TooManyRequests,
    UnexpectedResponse,
)

__all__ = [
    "AccessDenied",
    "AgentError",
    "AsyncClient",
    "Client",
    "ClientTimeout",
    "Conflict",
    "ConnectionFailed",
    "ExecutionFailed",
    "InputSchemaMismatch",
    "InvalidRequest",
    "InvalidWebhook",
    "NotFound",
    "ServiceFailed",
    "TooManyRequests",
    "UnexpectedResponse",
    "parse_webhook",
]
