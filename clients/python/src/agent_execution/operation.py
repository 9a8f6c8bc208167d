"""One definition of an operation for both clients: what it returns depends on the client that it is called on."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from .core.flow import Flow
from .drivers import AsyncDriver, SyncDriver

P = ParamSpec("P")
T = TypeVar("T")


class Operation(Generic[P, T]):
    """A method that makes a flow. On a `Client` it returns its result, on an `AsyncClient` a coroutine."""

    def __init__(self, make: Callable[Concatenate[Any, P], Flow[T]]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, client: None, owner: Any = None) -> Callable[Concatenate[Any, P], Flow[T]]: ...
    @overload
    def __get__(self, client: SyncDriver, owner: Any = None) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: AsyncDriver, owner: Any = None) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, client: Any, owner: Any = None) -> Any:
        return self._make if client is None else _bind(client, client.perform, self._make)


class Listing(Generic[P, T]):
    """A method that makes a flow which emits items. A `Client` iterates over them, an `AsyncClient` with `async for`."""

    def __init__(self, make: Callable[Concatenate[Any, P], Flow[T]]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, client: None, owner: Any = None) -> Callable[Concatenate[Any, P], Flow[T]]: ...
    @overload
    def __get__(self, client: SyncDriver, owner: Any = None) -> Callable[P, Generator[T]]: ...
    @overload
    def __get__(self, client: AsyncDriver, owner: Any = None) -> Callable[P, AsyncGenerator[T]]: ...
    def __get__(self, client: Any, owner: Any = None) -> Any:
        return self._make if client is None else _bind(client, client.iterate_flow, self._make)


def _bind(client: Any, perform: Callable[[Flow[Any]], Any], make: Callable[..., Flow[Any]]) -> Callable[..., Any]:
    @wraps(make)
    def method(*args: Any, **options: Any) -> Any:
        return perform(make(client, *args, **options))

    return method
