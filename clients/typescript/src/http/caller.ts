import type {
  CallOptions,
  ClientOptions,
  ListOptions,
  Searched,
  SearchOptions,
  WaitOptions,
} from '../options.ts'
import { type Run, startRun } from '../runs/runs.ts'
import { type Call, openCall } from './call.ts'
import {
  type Connection,
  executionPath,
  nextQuery,
  type RequestSpec,
  requestJson,
  toConnection,
  toQuery,
  unexpectedResponse,
} from './request.ts'

const DEFAULT_TIMEOUT_MS = 10 * 60_000

/** For cancelling an execution whose caller has given up. */
const CANCEL_TIMEOUT_MS = 10_000

/** Makes the calls of a client, each within its signal and its deadline. */
export class Caller {
  readonly connection: Connection
  private readonly timeoutMs: number | undefined

  constructor(options: ClientOptions) {
    this.connection = toConnection(options)
    this.timeoutMs = options.timeoutMs
  }

  /** The call has to be closed. @throws the reason of the signal if it is aborted already */
  open({ signal, timeoutMs }: CallOptions, defaultMs = this.timeoutMs ?? DEFAULT_TIMEOUT_MS): Call {
    return openCall(signal, timeoutMs ?? defaultMs)
  }

  async within<T>(options: CallOptions, work: (call: Call) => Promise<T>): Promise<T> {
    const call = this.open(options)
    try {
      return await work(call)
    } finally {
      call.close()
    }
  }

  send<T>(spec: RequestSpec, options: CallOptions): Promise<T> {
    return this.within(options, (call) => requestJson<T>(this.connection, call, spec))
  }

  /** Reads all pages. Each has a deadline of its own: the reader may take its time between them. */
  async *list<T>(
    path: string,
    { signal, timeoutMs, onSearched, ...parameters }: ListOptions & SearchOptions,
  ): AsyncGenerator<T, void, undefined> {
    let query: string | undefined = toQuery(parameters)
    while (query !== undefined) {
      const spec = { path: path + query }
      let next: string | undefined
      let searched: Searched | undefined
      const items = await this.within({ signal, timeoutMs }, (call) =>
        requestJson<T[]>(this.connection, call, spec, ({ headers }) => {
          next = nextQuery(headers)
          searched = readSearched(headers)
        }),
      )
      if (!Array.isArray(items)) throw unexpectedResponse(200, 'The response is not a list.')
      if (searched) await onSearched?.(searched)
      yield* items
      query = next
    }
  }

  /** Does work that waits for an execution. `findId` is called only if the execution has to be cancelled. */
  waitWithin<T>(
    options: WaitOptions,
    findId: (call: Call) => Promise<string>,
    work: (call: Call) => Promise<T>,
  ): Promise<T> {
    return this.within(options, async (call) => {
      try {
        return await work(call)
      } catch (error) {
        await this.cancelIfAborted(call, options, findId)
        throw error
      }
    })
  }

  /** As far as possible: the error that the caller gets says why the call has ended. */
  async cancelIfAborted(
    call: Call,
    { cancelOnAbort }: WaitOptions,
    findId: (call: Call) => Promise<string>,
  ): Promise<void> {
    if (!cancelOnAbort || !call.signal.aborted) return
    const options = { timeoutMs: CANCEL_TIMEOUT_MS }
    const cancelled = findId(call).then((id) =>
      this.send({ method: 'POST', path: `${executionPath(id)}/cancel` }, options),
    )
    await cancelled.catch(() => undefined)
  }

  /**
   * The ID of a run whose response has not arrived. Its key leads to the same execution; if the first request did not
   * reach the service, to a new one.
   */
  async findRun({ executionId }: Call, run: Run): Promise<string> {
    if (executionId !== undefined) return executionId
    const options = { timeoutMs: CANCEL_TIMEOUT_MS }
    return (await this.within(options, (call) => startRun(this.connection, call, run))).id
  }
}

function readSearched(headers: Headers): Searched | undefined {
  const executions = headers.get('X-Searched-Executions')
  if (executions === null) return undefined
  return { executions: Number(executions), until: headers.get('X-Searched-Until') }
}
