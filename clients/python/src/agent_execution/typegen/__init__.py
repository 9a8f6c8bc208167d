"""Types of the inputs and outputs of agents, from their schemas."""

from .module import write_module

__all__ = ["write_module"]
