import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

/** The fields of an execution record that most clients need. The OpenAPI document lists all of them. */
export type Execution<Output> = {
  id: string
  status: 'IN_PROGRESS' | 'SUCCESS' | 'ERROR'
  output: Output | null
  error: { code: string; message: string } | null
  cached: boolean
  createdAt: string
  finishedAt: string | null
}

/** Query parameters of a run. */
export type RunOptions = {
  enforceInputSchema?: boolean
  useCache?: boolean
  maxAgentSteps?: number
  version?: string
  tenantId?: string
  useDynamicLearning?: boolean
  model?: string
  /** Sent as `Idempotency-Key`. By default each call gets a new key, so that it can be retried safely. */
  idempotencyKey?: string
}

/** Problem details (RFC 9457), the body of every error response. Branch on `code`; `detail` is for people. */
export type Problem = {
  status: number
  code: string
  title: string
  detail: string
  instance: string
  errors?: { path: string; message: string }[]
  executionId?: string
  error?: { code: string; message: string }
}

export class ProblemError extends Error {
  readonly problem: Problem

  constructor(problem: Problem) {
    super(`${problem.code}: ${problem.detail}`)
    this.name = 'ProblemError'
    this.problem = problem
  }
}

/** Thrown when an execution that this client waited for ended in ERROR. */
export class ExecutionError extends Error {
  readonly execution: Execution<unknown>

  constructor(execution: Execution<unknown>) {
    super(`${execution.error?.code}: ${execution.error?.message}`)
    this.name = 'ExecutionError'
    this.execution = execution
  }
}

const MAX_ATTEMPTS = 4
const RETRYABLE_STATUSES = [429, 503]
/** The service accepts at most 25. */
const WAIT_SECONDS = 20

type SendOptions = { body?: object; headers?: Record<string, string> }

export class AgentClient {
  private readonly baseUrl: string
  private readonly token: string

  constructor(options: { baseUrl: string; token: string }) {
    this.baseUrl = options.baseUrl.replace(/\/+$/, '')
    this.token = options.token
  }

  /** Runs an agent synchronously and returns its output. */
  async run<Output>(agent: string, input: object, options: RunOptions = {}): Promise<Output> {
    try {
      return await this.post<Output>(agent, input, options, 'sync')
    } catch (error) {
      const { code, executionId } = error instanceof ProblemError ? error.problem : {}
      // The run continues without a caller: after 270 seconds, or when a retry found the first request still running.
      const isRunning = code === 'ExecutionStillRunning' || code === 'ExecutionInProgress'
      if (!isRunning || !executionId) throw error
      return await this.waitForOutput<Output>(executionId)
    }
  }

  /** Starts an asynchronous run and returns its execution record at once. */
  start<Output>(agent: string, input: object, options: RunOptions = {}): Promise<Execution<Output>> {
    return this.post<Execution<Output>>(agent, input, options, 'async')
  }

  /** With `waitSeconds`, the response arrives when the execution is final or the time has passed. */
  getExecution<Output>(id: string, { waitSeconds = 0 } = {}): Promise<Execution<Output>> {
    const headers = waitSeconds > 0 ? { Prefer: `wait=${waitSeconds}` } : {}
    return this.send<Execution<Output>>('GET', `/v1/agent_executions/${id}`, { headers })
  }

  /** @throws ExecutionError when the execution ends in ERROR */
  async waitForOutput<Output>(id: string): Promise<Output> {
    for (;;) {
      const execution = await this.getExecution<Output>(id, { waitSeconds: WAIT_SECONDS })
      if (execution.status === 'SUCCESS') return execution.output as Output
      if (execution.status === 'ERROR') throw new ExecutionError(execution)
    }
  }

  private post<Result>(agent: string, input: object, options: RunOptions, execMode: string): Promise<Result> {
    const { idempotencyKey = randomUUID(), ...parameters } = options
    const query = new URLSearchParams({ execMode })
    for (const [name, value] of Object.entries(parameters)) query.set(name, String(value))
    const path = `/v1/agents/${encodeURIComponent(agent)}/executions?${query}`
    return this.send<Result>('POST', path, { body: input, headers: { 'Idempotency-Key': idempotencyKey } })
  }

  /** Retries lost connections and responses with a retryable status. The idempotency key makes this safe. */
  private async send<Result>(method: string, path: string, options: SendOptions): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      const response = await this.fetch(method, path, options).catch((error: unknown) => {
        if (attempt >= MAX_ATTEMPTS) throw error
      })
      if (response?.ok) return (await response.json()) as Result
      if (response && (attempt >= MAX_ATTEMPTS || !RETRYABLE_STATUSES.includes(response.status)))
        throw new ProblemError((await response.json()) as Problem)
      const backoffMs = Math.random() * 200 * 2 ** attempt
      await sleep(Number(response?.headers.get('Retry-After') ?? 0) * 1000 + backoffMs)
    }
  }

  private fetch(method: string, path: string, { body, headers }: SendOptions): Promise<Response> {
    return fetch(this.baseUrl + path, {
      method,
      headers: {
        Authorization: `Bearer ${this.token}`,
        ...(body && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    })
  }
}
