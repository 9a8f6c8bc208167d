"""The function of an agent: its input and output as JSON, synchronous or not."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import json
import typing
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from typing import Any

from ..core.call import to_jsonable
from .context import AgentFailure, Context

Answer = dict[str, Any]


class InvalidInput(Exception):
    """The input does not match the model of the function."""


class AgentFunction:
    """A function `run(input, context)` or `run(input)`. A model of pydantic as its annotation validates the input."""

    def __init__(self, function: Callable[..., Any], executor: Executor | None) -> None:
        if not callable(function):
            raise TypeError(f"agent takes a function run(input, context), not {function!r}.")
        parameters = list(inspect.signature(function).parameters.values())
        positional = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
        if not positional:
            raise TypeError("The function of an agent takes its input: def run(input, context).")
        self.is_async = inspect.iscoroutinefunction(function)
        self._function = function
        self._takes_context = len(positional) > 1
        self._executor = executor
        self._model = _model_of(function, positional[0].name)

    def parse(self, value: Any) -> Any:
        """Raises `InvalidInput`."""
        if self._model is None:
            return value
        try:
            return self._model.model_validate(value)
        except ValueError as error:
            raise InvalidInput(f"The input does not match {self._model.__name__}: {error}") from None

    async def answer(self, input: Any, context: Context) -> Answer:
        """The output or the error, as they are sent."""
        args = (input, context) if self._takes_context else (input,)
        try:
            output = await self._function(*args) if self.is_async else await self._in_thread(args)
            json.dumps(output, default=to_jsonable, allow_nan=False)
            return {"output": output}
        except AgentFailure as failure:
            return to_error(str(failure), failure.retryable)
        except asyncio.CancelledError:
            if not context.cancelled:
                raise
            return to_error("The run was cancelled.")
        except (Exception, SystemExit) as error:
            return to_error(f"{type(error).__name__}: {error}")

    async def _in_thread(self, args: tuple[Any, ...]) -> Any:
        call = partial(contextvars.copy_context().run, self._function, *args)
        output = await asyncio.get_running_loop().run_in_executor(self._executor, call)
        return await output if inspect.isawaitable(output) else output


def to_error(message: str, retryable: bool = False) -> Answer:
    """An error of the protocol."""
    return {"error": {"message": message[:10_000], "retryable": retryable}}


def to_bytes(value: Any) -> bytes:
    """A line of JSON without its end."""
    return json.dumps(value, default=to_jsonable, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")


def _model_of(function: Callable[..., Any], name: str) -> Any:
    try:
        annotation = typing.get_type_hints(function).get(name)
    except (NameError, TypeError):
        # A name that only checkers know; the annotation of the input itself can be a class all the same.
        annotation = getattr(function, "__annotations__", {}).get(name)
    return annotation if hasattr(annotation, "model_validate") else None
