"""Agents in Python behind the typed endpoints of the service: an ASGI app and a Lambda handler from a function."""

from .agent import RemoteAgent, agent
from .context import AgentFailure, Context, Execution
from .store import MemoryStore, Store

__all__ = ["AgentFailure", "Context", "Execution", "MemoryStore", "RemoteAgent", "Store", "agent"]
