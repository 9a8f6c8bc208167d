"""The clients."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable
from typing import TYPE_CHECKING, Any, TypeVar, overload

import httpx

from .core.call import Connection, to_output
from .drivers import LIMITS, AsyncDriver, SyncDriver
from .operations import Operations
from .records import BatchOptions, BatchResult, ClientOptions, RunOptions

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

M = TypeVar("M")


class BatchRun:
    """The results of a batch, in the order of its inputs. `ids`: of the batches that were started."""

    def __init__(self, results: Generator[Any], ids: list[str], output: Any) -> None:
        self.ids = ids
        self._results = results
        self._output = output

    def __iter__(self) -> Generator[BatchResult]:
        for result in self._results:
            yield _with_output(result, self._output)


class AsyncBatchRun:
    """The results of a batch, in the order of its inputs. `ids`: of the batches that were started."""

    def __init__(self, results: AsyncGenerator[Any], ids: list[str], output: Any) -> None:
        self.ids = ids
        self._results = results
        self._output = output

    async def __aiter__(self) -> AsyncGenerator[BatchResult]:
        async for result in self._results:
            yield _with_output(result, self._output)


class Client(Operations, SyncDriver):
    """
    A client of the Agent Execution Service, safe for threads. Calls raise `AgentError`. Requests are repeated after
    broken connections, 408, 429, 502, 503, 504 and `InternalError`, until the deadline of the call.
    """

    def __init__(self, base_url: str, token: str, *, http: httpx.Client | None = None, **options: Unpack[ClientOptions]) -> None:
        """
        `http`: a client of httpx to use, for example with a proxy. Raises ValueError if an option is not valid.
        """
        self._owned = http is None
        super().__init__(Connection(base_url, token, **options), http or httpx.Client(limits=LIMITS))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections, unless `http` was given."""
        if self._owned:
            self.http.close()

    @overload
    def run(self, agent: str, input: Any, *, output: type[M], **options: Unpack[RunOptions]) -> M: ...
    @overload
    def run(self, agent: str, input: Any, *, output: None = None, **options: Unpack[RunOptions]) -> Any: ...
    def run(self, agent: str, input: Any, *, output: Any = None, **options: Unpack[RunOptions]) -> Any:
        """
        Runs an agent and returns its output, however long that takes, also if the run waits for a person or a time.

        `input`: JSON, or a model of pydantic. `output`: the type of the output; a model of pydantic validates it.
        """
        return self.perform(self._run(agent, input, output, options))

    def batch(
        self, agent: str, inputs: Iterable[Any], *, output: type | None = None, **options: Unpack[BatchOptions]
    ) -> BatchRun:
        """
        Runs an agent with each input, which can be `{"customId": …, "input": …}`, and yields the results in their order.
        The first batch of at most 10,000 inputs starts when iteration begins. What ends the iteration leaves it running.
        """
        ids: list[str] = []
        return BatchRun(self.iterate_flow(self._batch(agent, iter(inputs), options, ids)), ids, output)


class AsyncClient(Operations, AsyncDriver):
    """The same for asyncio: `await client.run(…)`, `async for event in client.stream(…)`."""

    def __init__(self, base_url: str, token: str, *, http: httpx.AsyncClient | None = None, **options: Unpack[ClientOptions]) -> None:
        """The options are those of `Client`."""
        self._owned = http is None
        super().__init__(Connection(base_url, token, **options), http or httpx.AsyncClient(limits=LIMITS))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections, unless `http` was given."""
        if self._owned:
            await self.http.aclose()

    @overload
    async def run(self, agent: str, input: Any, *, output: type[M], **options: Unpack[RunOptions]) -> M: ...
    @overload
    async def run(self, agent: str, input: Any, *, output: None = None, **options: Unpack[RunOptions]) -> Any: ...
    async def run(self, agent: str, input: Any, *, output: Any = None, **options: Unpack[RunOptions]) -> Any:
        """See `Client.run`. `on_waiting` can be asynchronous."""
        return await self.perform(self._run(agent, input, output, options))

    def batch(
        self,
        agent: str,
        inputs: Iterable[Any] | AsyncIterable[Any],
        *,
        output: type | None = None,
        **options: Unpack[BatchOptions],
    ) -> AsyncBatchRun:
        """See `Client.batch`. The inputs can be asynchronous."""
        ids: list[str] = []
        iterator = aiter(inputs) if isinstance(inputs, AsyncIterable) else iter(inputs)
        return AsyncBatchRun(self.iterate_flow(self._batch(agent, iterator, options, ids)), ids, output)


def _with_output(result: BatchResult, output: Any) -> BatchResult:
    if output is None or result["status"] != "SUCCESS":
        return result
    result["output"] = to_output(result["output"], output, result["executionId"])
    return result
