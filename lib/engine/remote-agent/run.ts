import type { Remote, Version } from '../../core/agent.ts'
import { failure, type Outcome } from '../../core/execution.ts'
import type { Json, JsonObject } from '../../core/json/json.ts'
import { backoffMs } from '../../core/lease-times.ts'
import { MAX_ATTEMPTS } from '../../core/limits.ts'
import type { Recording } from '../../core/recording.ts'
import { openSecrets, type Secrets } from '../../tools/secrets.ts'
import { AttemptStopped, retryableError } from '../checkpoints/stop-reason.ts'
import { cutMessage, toOutputOutcome } from '../code-agent/outcome.ts'
import { type Engine, timesOf } from '../engine.ts'
import { BudgetExceeded } from '../model-agent/run-budget.ts'
import type { RunParams } from '../model-agent/run-child.ts'
import { Diverged } from '../replay/diverged.ts'
import { retryInPlace } from '../retry-in-place.ts'
import { openCallbacks } from '../waiting/callbacks.ts'
import { CodeWaits } from '../waiting/code-waits.ts'
import { callbackName } from '../waiting/remote-result.ts'
import { Caller } from './caller.ts'
import { RemoteFailure, toReportedFailure } from './remote-failure.ts'
import type { Answer } from './request.ts'
import { StreamRecord } from './stream-record.ts'

type Params = Omit<RunParams, 'attempt' | 'version'> & { version: Version & { remote: Remote } }

/**
 * Runs a remote agent: asks its URL or its Lambda function for the output. A run whose agent has accepted the request
 * is suspended until the callback.
 * @throws AttemptStopped, Unavailable; ToolError for a secret that cannot be read
 */
export async function runRemoteVersion(params: Params): Promise<Outcome> {
  const { engine, version, execution, journal, recording, retry } = params
  const secrets = openSecrets(engine.environment ?? process.env)
  const record = new StreamRecord({ ...params, secrets })
  try {
    const isReplayed = recording && (recording.ofCase || !version.remote.readOnly)
    const output = isReplayed
      ? await replayRemote(params, recording)
      : await new RemoteRun(params, record, secrets).findOutput()
    await record.end()
    const outcome = toOutputOutcome(secrets.mask(output), {
      execution,
      version,
      steps: journal.progress.steps,
    })
    const { steps, usage, model } = journal.progress
    const isMissed = await record.limits?.misses(journal.usage)
    const warnings = isMissed ? { warnings: ['ModelWithoutPrice'] } : {}
    return outcome.status === 'SUCCESS' ? { ...outcome, steps, usage, model, ...warnings } : outcome
  } catch (error) {
    if (error instanceof BudgetExceeded || error instanceof Diverged) return failure(error.error)
    if (!(error instanceof RemoteFailure)) throw error
    const message = cutMessage(error.message, secrets.texts)
    if (!error.isTransient) return failure({ code: error.code, message })
    const unavailable = { code: 'AgentUnavailable', message }
    if (retry.mode === 'requeue') throw retryableError(unavailable, error.retryAfterMs)
    return failure(unavailable)
  } finally {
    record.close()
  }
}

const ACCEPTED: Answer & { isAccepted: true } = { isAccepted: true, tellsCancel: false }

/** One attempt at the run. */
class RemoteRun {
  private readonly params: Params
  private readonly record: StreamRecord
  private readonly secrets: Secrets
  private readonly waits: CodeWaits
  private readonly callbacks: ReturnType<typeof openCallbacks>
  private readonly caller: Caller
  /** Callbacks that earlier attempts have received: after each, the run has paused. */
  private readonly receivedBefore: number
  private requests = 0

  constructor(params: Params, record: StreamRecord, secrets: Secrets) {
    this.params = params
    this.record = record
    this.secrets = secrets
    this.waits = new CodeWaits({ ...params, maskData: secrets.mask })
    this.callbacks = openCallbacks({ ...params, mask: secrets.texts })
    this.caller = new Caller({ ...params, secrets })
    this.receivedBefore = this.recordedWaits.filter(({ results }) => results.size > 0).length
  }

  private get recordedWaits() {
    return this.params.journal.recorded.filter(({ step }) => step.kind === 'WAIT')
  }

  /**
   * A round ends with an output or a callback. After a callback with an error that may be retried, there is another.
   * @throws RemoteFailure, BudgetExceeded, AttemptStopped, ToolError, Unavailable
   */
  async findOutput(): Promise<Json> {
    try {
      for (let round = Math.max(this.recordedWaits.length, 1); ; round++) {
        const answer = this.waits.isRecorded(callbackName(round)) ? ACCEPTED : await this.askWithRetry(round)
        if ('output' in answer) return answer.output
        const { output, error = null } = await this.waitFor(round, answer.tellsCancel)
        if (output !== undefined) return output
        const reported = toReportedFailure(error)
        if (!reported.isTransient || round >= MAX_ATTEMPTS) throw new RemoteFailure(reported.message)
        if (round > this.receivedBefore) throw this.pause(reported, round)
      }
    } finally {
      await this.caller.close()
    }
  }

  private async askWithRetry(round: number): Promise<Answer> {
    const { engine, version, retry, signal, endsAt } = this.params
    await this.record.limits?.check({ name: version.slug, costOf: () => 0 })
    const hasCallback = version.remote.url !== undefined && this.callbacks.publicUrl !== undefined
    const callbackUrl = hasCallback ? await this.callbacks.urlOf(callbackName(round)) : undefined
    return retryInPlace(() => this.ask(round, callbackUrl), {
      ...{ system: engine.system, times: timesOf(engine), endsAt, signal },
      hasAlternative: retry.mode === 'requeue',
      transientOf: (error) => (error instanceof RemoteFailure && error.isTransient ? error : null),
    })
  }

  private async ask(round: number, callbackUrl: string | undefined): Promise<Answer> {
    const { journal, execution } = this.params
    journal.assertMayBegin()
    this.requests += 1
    const isRepeated = this.requests > 1 || execution.attempts > 1
    // The answer that has accepted an earlier request may be lost.
    if (callbackUrl && isRepeated && (await this.hasArrived(round))) return ACCEPTED
    this.record.begin()
    const answer = await this.caller.ask({ callbackUrl, onLine: (line) => this.record.add(line) })
    if ('isAccepted' in answer && !callbackUrl) throw new RemoteFailure(NO_CALLBACK)
    return answer
  }

  private async hasArrived(round: number): Promise<boolean> {
    const { engine, execution } = this.params
    const kept = await engine.signals.list({ executionId: execution.id })
    return kept.some(({ name }) => name === callbackName(round))
  }

  /** What the callback of a round delivers. @throws AttemptStopped `Suspended` if it has not */
  private async waitFor(round: number, tellsCancel: boolean): Promise<JsonObject> {
    const name = callbackName(round)
    await this.record.end()
    // What a resumed run receives is masked, too.
    await this.secrets.fillHeaders(this.params.version.remote.headers ?? {}).catch(() => undefined)
    const call = { kind: 'signal' as const, signals: [name], isAny: false, timeoutSeconds: null, tellsCancel }
    const begun = await this.waits.begin(name, call)
    if (begun === 'open') throw new AttemptStopped({ kind: 'Suspended', waits: this.waits.waits })
    return begun.value as JsonObject
  }

  /** Before the next round: the longer, the more there were. */
  private pause({ message, retryAfterMs }: RemoteFailure, round: number): AttemptStopped {
    const failed = { failures: round, retryAfterMs: retryAfterMs ?? 0, jitter: Math.random() }
    return retryableError(
      { code: 'AgentUnavailable', message },
      backoffMs(timesOf(this.params.engine), failed),
    )
  }
}

const NO_CALLBACK =
  'The agent answered with HTTP 202, but the service cannot be called back: it has no public URL. Operators set it with the setting publicUrl.'

/**
 * The output of the original: a trial calls no agent that may change something, as it calls no such tool.
 * @throws RemoteFailure with the error of the original; Diverged if the original asked no remote agent; Unavailable
 */
async function replayRemote(
  { engine }: { engine: Pick<Engine, 'agents'> },
  { original, ofCase }: Recording,
): Promise<Json> {
  const { organizationId, agentId, versionId: id, output, error } = original
  const version = ofCase ? null : await engine.agents.getVersion({ organizationId, agentId, id })
  if (!ofCase && !version?.remote) throw new Diverged(NOT_REMOTE, { versionId: id })
  if (error) throw new RemoteFailure(error.message, { code: error.code })
  return output
}

const NOT_REMOTE =
  'The original did not ask a remote agent. A trial calls one only if its document says remote.readOnly: true.'
