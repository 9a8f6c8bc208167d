import type { Remote, Version } from '../../core/agent.ts'
import type { LeasedExecution } from '../../core/execution.ts'
import { isJsonObject } from '../../core/json/json.ts'
import { parsePartnerJson } from '../../core/json/parse-json.ts'
import { DEFAULT_WEBHOOK } from '../../core/notification.ts'
import { loopbackHosts } from '../../tools/egress/private-hosts.ts'
import { describeFailure, openFunction } from '../../tools/kinds/lambda-tool.ts'
import type { Secrets } from '../../tools/secrets.ts'
import { ToolError } from '../../tools/tool.ts'
import { anyOf } from '../checkpoints/deadline.ts'
import { type Engine, traceparentFrom } from '../engine.ts'
import { cacheSecrets, signWebhook } from '../../tools/egress/sign-webhook.ts'
import { RemoteFailure, toReportedFailure } from './remote-failure.ts'
import { type Answer, type Request, sendToRemote } from './request.ts'

type Params = {
  engine: Engine
  version: Version & { remote: Remote }
  execution: LeasedExecution
  secrets: Secrets
  signal: AbortSignal
  endsAt: number
}

type Question = { callbackUrl: string | undefined; onLine: Request['onLine'] }

/** Asks a remote agent, each time with the same key: for the agent, all requests of a run are the same one. */
export class Caller {
  private readonly params: Params
  private readonly fn: ReturnType<typeof openFunction> | null

  constructor(params: Params) {
    const { version, engine } = params
    this.params = params
    const { lambda } = version.remote
    this.fn = lambda ? openFunction(lambda.function, engine.environment ?? process.env) : null
  }

  async close(): Promise<void> {
    await this.fn?.close()
  }

  /** @throws RemoteFailure, also after `timeoutSeconds`; ToolError for a secret; the reason of the run's signal */
  async ask(question: Question): Promise<Answer> {
    const { engine, version, signal: ofRun, endsAt } = this.params
    const { timeoutSeconds } = version.remote
    const deadlineAt = Math.min(engine.system.now() + timeoutSeconds * 1_000, endsAt)
    const timeout = new AbortController()
    const message = `The agent did not answer within ${timeoutSeconds} s. What takes longer is to be answered by 202.`
    const expire = () => timeout.abort(new RemoteFailure(message, { isTransient: true }))
    const timer = setTimeout(expire, deadlineAt - engine.system.now())
    const { signal, clear } = anyOf(ofRun, timeout.signal)
    try {
      return await (this.fn ? this.invoke(signal) : this.send(question, { signal, deadlineAt }))
    } finally {
      clearTimeout(timer)
      clear()
    }
  }

  private bodyOf(callbackUrl?: string): string {
    const { id, attempts: attempt, input, tenantId } = this.params.execution
    const { slug: agent, id: version } = this.params.version
    const execution = { id, agent, version, ...(tenantId !== null && { tenantId }), attempt }
    return JSON.stringify({ input, execution, callbackUrl })
  }

  private async send(
    { callbackUrl, onLine }: Question,
    { signal, deadlineAt }: { signal: AbortSignal; deadlineAt: number },
  ): Promise<Answer> {
    const { engine, execution, version, secrets } = this.params
    const { url = '', headers = {}, allowedHosts = [] } = version.remote
    const { now, newId } = engine.system
    const { organizationId, id } = execution
    const body = this.bodyOf(callbackUrl)
    const filled = await secrets.fillHeaders(headers)
    const signed = engine.webhooks && {
      ...{ eventId: newId(), body, now: now() },
      secrets: await secretsOf(engine.webhooks)({ organizationId, id: DEFAULT_WEBHOOK }),
    }
    const signature = signed && signWebhook(signed)
    if (!signature) throw new RemoteFailure(NO_SECRET)
    return sendToRemote({
      url: new URL(url),
      headers: {
        'user-agent': 'agent-execution-service',
        ...filled,
        accept: 'application/json, application/x-ndjson',
        'content-type': 'application/json',
        'idempotency-key': id,
        'execution-deadline': new Date(deadlineAt).toISOString(),
        traceparent: traceparentFrom(engine, execution),
        ...signature,
      },
      body,
      policy: { allowedHosts: [...allowedHosts, ...loopbackHosts(url, organizationId, engine.environment)] },
      signal,
      now,
      onLine,
    })
  }

  private async invoke(signal: AbortSignal): Promise<Answer> {
    const { engine, execution } = this.params
    const custom = { idempotencyKey: execution.id, traceparent: traceparentFrom(engine, execution) }
    const { payload, hasFailed } = await this.invokeOnce(custom, signal)
    if (hasFailed) throw new RemoteFailure(describeFailure(payload), { isTransient: true })
    const value = parsePartnerJson(payload)
    if (value === undefined) throw new RemoteFailure('The function returned invalid JSON.')
    const isError = isJsonObject(value) && isJsonObject(value.error) && Object.keys(value).length === 1
    if (isError) throw toReportedFailure(value.error ?? null)
    return { output: value }
  }

  private async invokeOnce(custom: object, signal: AbortSignal) {
    try {
      if (!this.fn) throw new Error('The agent has a URL.')
      return await this.fn.invoke(this.bodyOf(), custom, signal)
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof ToolError)) throw error
      throw new RemoteFailure(error.message, { isTransient: error.isTransient })
    }
  }
}

type SigningStore = NonNullable<Engine['webhooks']>

/** One for each store: attempts share it. */
const readers = new WeakMap<SigningStore, ReturnType<typeof cacheSecrets>>()

function secretsOf(store: SigningStore): ReturnType<typeof cacheSecrets> {
  const reader = readers.get(store) ?? cacheSecrets(store.getSigningSecrets)
  readers.set(store, reader)
  return reader
}

export const NO_SECRET =
  'The organization has no secret that signs requests to remote agents. POST /v1/webhooks/default/rotate creates it.'
