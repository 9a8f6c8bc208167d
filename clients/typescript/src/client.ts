import type { AgentTypes, AnyAgents, SlugOf } from './agent-types.ts'
import { type Call, openCall } from './call.ts'
import { type ExecutionEvent, readEvents } from './events.ts'
import type {
  AgentFilters,
  CallOptions,
  ClientOptions,
  ExecutionFilters,
  GetOptions,
  ListOptions,
  RunOptions,
  WaitOptions,
} from './options.ts'
import { agentPath, executionPath, nextQuery, toQuery, versionPath } from './paths.ts'
import type {
  Agent,
  Execution,
  ExecutionSummary,
  FeedbackBody,
  Me,
  PublishBody,
  Step,
  SucceededExecution,
  Version,
  VersionDetails,
} from './records.ts'
import { type Connection, type RequestSpec, requestJson, toConnection } from './request.ts'
import { openEvents, openRunEvents, type Run, runToEnd, startRun, toRun, waitForEnd } from './runs.ts'

const DEFAULT_TIMEOUT_MS = 10 * 60_000

/** For cancelling an execution whose caller has given up. */
const CANCEL_TIMEOUT_MS = 10_000

type Output = Record<string, unknown>

/** The ID of an execution, or its record, which also has the type of the output. */
type ExecutionOrId<Output> = string | Execution<Output>

const idOf = (execution: ExecutionOrId<unknown>) => (typeof execution === 'string' ? execution : execution.id)

/**
 * A client of the Agent Execution Service. Calls reject with an `AgentError`, or with the reason of their signal. Requests
 * are repeated after broken connections, 408, 429, 502, 503, 504 and `InternalError`, until the deadline of the call.
 * @typeParam Agents input and output types by slug, written by `agents types`
 */
export class Client<Agents extends AgentTypes<Agents> = AnyAgents> {
  private readonly connection: Connection
  private readonly timeoutMs: number | undefined

  /** @throws TypeError if an option is not valid */
  constructor(options: ClientOptions) {
    this.connection = toConnection(options)
    this.timeoutMs = options.timeoutMs
  }

  /** Runs an agent and returns its output, however long that takes. */
  async run<Slug extends SlugOf<Agents>>(
    agent: Slug,
    input: Agents[Slug]['input'],
    options: RunOptions = {},
  ): Promise<Agents[Slug]['output']> {
    const run = toRun(this.connection, agent, input, options)
    const call = this.open(options)
    return this.untilEnd(call, options, () => this.findRun(call, run), runToEnd(this.connection, call, run))
  }

  /** Starts a run and returns its execution, which is in progress unless its result was cached. */
  async start<Slug extends SlugOf<Agents>>(
    agent: Slug,
    input: Agents[Slug]['input'],
    options: Omit<RunOptions, 'cancelOnAbort'> = {},
  ): Promise<Execution<Agents[Slug]['output']>> {
    const run = toRun(this.connection, agent, input, options)
    return this.within(options, (call) => startRun(this.connection, call, run))
  }

  /** Waits until an execution has succeeded. Rejects with `ExecutionFailed` if it ends in ERROR. */
  async wait<O = Output>(
    execution: ExecutionOrId<O>,
    options: WaitOptions = {},
  ): Promise<SucceededExecution<O>> {
    const id = idOf(execution)
    const call = this.open(options)
    return this.untilEnd(call, options, async () => id, waitForEnd<O>(this.connection, call, id))
  }

  /** Runs an agent and yields what happens, each event once. The first event is requested when iteration begins. */
  async *stream<Slug extends SlugOf<Agents>>(
    agent: Slug,
    input: Agents[Slug]['input'],
    options: RunOptions = {},
  ): AsyncGenerator<ExecutionEvent<Agents[Slug]['output']>, void, undefined> {
    const run = toRun(this.connection, agent, input, options)
    const call = this.open(options, Number.POSITIVE_INFINITY)
    const openStream = (after: string) => openRunEvents(this.connection, call, run, after)
    try {
      yield* readEvents(this.connection, call, openStream, '0')
    } catch (error) {
      await this.cancelIfAborted(call, options, () => this.findRun(call, run))
      throw error
    } finally {
      call.close()
    }
  }

  /** Yields the events of an execution: the steps after the step `after`, and what follows. */
  async *events<O = Output>(
    execution: ExecutionOrId<O>,
    { after = 0, ...options }: CallOptions & { after?: number | undefined } = {},
  ): AsyncGenerator<ExecutionEvent<O>, void, undefined> {
    const call = this.open(options, Number.POSITIVE_INFINITY)
    const openStream = (last: string) => openEvents(this.connection, call, idOf(execution), last)
    try {
      yield* readEvents(this.connection, call, openStream, String(after))
    } finally {
      call.close()
    }
  }

  /** The execution as it is now. */
  get<O = Output>(
    execution: ExecutionOrId<O>,
    { adaptedInput, ...options }: GetOptions = {},
  ): Promise<Execution<O>> {
    return this.send({ path: executionPath(idOf(execution)) + toQuery({ adaptedInput }) }, options)
  }

  /** The steps of an execution, in order. */
  steps(execution: ExecutionOrId<unknown>, options: ListOptions = {}): AsyncGenerator<Step, void, undefined> {
    return this.list(`${executionPath(idOf(execution))}/steps`, options)
  }

  /** Ends an execution in ERROR `Cancelled`, unless it is final already. */
  cancel<O = Output>(execution: ExecutionOrId<O>, options: CallOptions = {}): Promise<Execution<O>> {
    return this.send({ method: 'POST', path: `${executionPath(idOf(execution))}/cancel` }, options)
  }

  /** Deletes a final execution and everything that belongs to it. */
  delete(execution: ExecutionOrId<unknown>, options: CallOptions = {}): Promise<void> {
    return this.send({ method: 'DELETE', path: executionPath(idOf(execution)) }, options)
  }

  /** Rates or corrects the result of an execution. Replaces earlier feedback. */
  async feedback<O = Output>(
    execution: ExecutionOrId<O>,
    feedback: FeedbackBody,
    options: CallOptions = {},
  ): Promise<Execution<O>> {
    const body = this.connection.stringify(feedback)
    return this.send({ method: 'PUT', path: `${executionPath(idOf(execution))}/feedback`, body }, options)
  }

  /** Executions, newest first. With `fields: 'summary'` without their payloads. */
  executions(
    options: ListOptions & ExecutionFilters & { fields: 'summary' },
  ): AsyncGenerator<ExecutionSummary, void, undefined>
  executions(options?: ListOptions & ExecutionFilters): AsyncGenerator<Execution, void, undefined>
  executions({ agent, ...options }: ListOptions & ExecutionFilters = {}) {
    return this.list(agent === undefined ? '/v1/agent_executions' : `${agentPath(agent)}/executions`, options)
  }

  /** The agents of the organization, newest first. */
  agents(options: ListOptions & AgentFilters = {}): AsyncGenerator<Agent, void, undefined> {
    return this.list('/v1/agents', options)
  }

  agent(agent: SlugOf<Agents>, options: CallOptions = {}): Promise<Agent> {
    return this.send({ path: agentPath(agent) }, options)
  }

  /** The versions of an agent, newest first. */
  versions(agent: SlugOf<Agents>, options: ListOptions = {}): AsyncGenerator<Version, void, undefined> {
    return this.list(`${agentPath(agent)}/versions`, options)
  }

  /** A version with its whole document. */
  version(agent: SlugOf<Agents>, versionId: string, options: CallOptions = {}): Promise<VersionDetails> {
    return this.send({ path: versionPath(agent, versionId) }, options)
  }

  /** Publishes an agent. Content that is published already creates no version: its version is returned. */
  async publish(agent: PublishBody, options: CallOptions = {}): Promise<Version> {
    const body = this.connection.stringify(agent)
    return this.send({ method: 'POST', path: '/v1/agents', body }, options)
  }

  /** Makes a version current: a draft as it is, or an older version again. */
  promote(agent: SlugOf<Agents>, versionId: string, options: CallOptions = {}): Promise<Agent> {
    return this.send({ method: 'POST', path: `${versionPath(agent, versionId)}/promote` }, options)
  }

  /** Deletes a draft. */
  deleteVersion(agent: SlugOf<Agents>, versionId: string, options: CallOptions = {}): Promise<void> {
    return this.send({ method: 'DELETE', path: versionPath(agent, versionId) }, options)
  }

  /** An archived agent accepts no runs, and lists leave it out. */
  archive(agent: SlugOf<Agents>, options: CallOptions = {}): Promise<Agent> {
    return this.send({ method: 'POST', path: `${agentPath(agent)}/archive` }, options)
  }

  restore(agent: SlugOf<Agents>, options: CallOptions = {}): Promise<Agent> {
    return this.send({ method: 'POST', path: `${agentPath(agent)}/restore` }, options)
  }

  /** The organization and the limits of the token. */
  me(options: CallOptions = {}): Promise<Me> {
    return this.send({ path: '/v1/me' }, options)
  }

  private open({ signal, timeoutMs }: CallOptions, defaultMs = this.timeoutMs ?? DEFAULT_TIMEOUT_MS): Call {
    return openCall(signal, timeoutMs ?? defaultMs)
  }

  private send<T>(spec: RequestSpec, options: CallOptions): Promise<T> {
    return this.within(options, (call) => requestJson<T>(this.connection, call, spec))
  }

  private async within<T>(options: CallOptions, work: (call: Call) => Promise<T>): Promise<T> {
    const call = this.open(options)
    try {
      return await work(call)
    } finally {
      call.close()
    }
  }

  /** Reads all pages. Each has a deadline of its own: the reader may take its time between them. */
  private async *list<T>(
    path: string,
    { signal, timeoutMs, ...parameters }: ListOptions,
  ): AsyncGenerator<T, void, undefined> {
    let query: string | undefined = toQuery(parameters)
    while (query !== undefined) {
      const spec = { path: path + query }
      let next: string | undefined
      const items = await this.within({ signal, timeoutMs }, (call) =>
        requestJson<T[]>(this.connection, call, spec, ({ headers }) => {
          next = nextQuery(headers)
        }),
      )
      yield* items
      query = next
    }
  }

  private async untilEnd<T>(
    call: Call,
    options: WaitOptions,
    findId: () => Promise<string>,
    work: Promise<T>,
  ): Promise<T> {
    try {
      return await work
    } catch (error) {
      await this.cancelIfAborted(call, options, findId)
      throw error
    } finally {
      call.close()
    }
  }

  /** As far as possible: the error that the caller gets says why the call has ended. */
  private async cancelIfAborted(
    call: Call,
    { cancelOnAbort }: WaitOptions,
    findId: () => Promise<string>,
  ): Promise<void> {
    if (!cancelOnAbort || !call.signal.aborted) return
    const cancelled = findId().then((id) => this.cancel(id, { timeoutMs: CANCEL_TIMEOUT_MS }))
    await cancelled.catch(() => undefined)
  }

  /**
   * The ID of a run whose response has not arrived. Its key leads to the same execution; if the first request did not
   * reach the service, to a new one.
   */
  private async findRun({ executionId }: Call, run: Run): Promise<string> {
    if (executionId !== undefined) return executionId
    const options = { timeoutMs: CANCEL_TIMEOUT_MS }
    return (await this.within(options, (call) => startRun(this.connection, call, run))).id
  }
}
