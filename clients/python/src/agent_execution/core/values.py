"""Values of JSON, whose types are not known until they are looked at."""

from __future__ import annotations

from typing import Any, TypeGuard


def as_object(value: Any) -> dict[str, Any] | None:
    """The value, if it is an object."""
    return value if _is_object(value) else None


def as_list(value: Any) -> list[Any] | None:
    """The value, if it is a list."""
    return value if _is_list(value) else None


def _is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)
