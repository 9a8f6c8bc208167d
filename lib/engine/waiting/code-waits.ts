import type { LeasedExecution } from '../../core/execution.ts'
import type { Json, JsonObject } from '../../core/json/json.ts'
import { APPROVAL_TIMEOUT_SECONDS, MAX_OPEN_WAITS } from '../../core/limits.ts'
import { type CallResult, type RecordedStep, WAIT_RESULT, type WaitStep } from '../../core/step.ts'
import type { Decision, Signal, Wait, WaitCall, WaitRequest } from '../../core/wait.ts'
import { compileValidator, type Validator } from '../../schema/validate/validate.ts'
import type { Journal } from '../checkpoints/journal.ts'
import { type Engine, isoNow } from '../engine.ts'
import { approvalIdOfWait, timedOut } from './approvals.ts'
import { usedSignals } from './wake.ts'

type RecordedWait = RecordedStep & { step: WaitStep }
export type SignalRequest = Extract<WaitRequest, { kind: 'signal' }>

type Params = {
  /** Masks what a signal brings before it is stored with the wait. */
  maskData?: (data: Json) => Json
  engine: Pick<Engine, 'signals' | 'system'>
  execution: LeasedExecution
  journal: Journal
  /**
   * Of a replay, whose waits end as those of its original: how the wait ended, or null if it did not. Throws for a wait
   * that the original did not have.
   */
  findRecordedEnd?: ((name: string, wait: WaitRequest) => { value: Json } | null) | undefined
}

/** Used signals that are kept: until there are more, no write deletes their data. */
const MAX_USED_SIGNALS = 100

/**
 * The waits of one attempt of a code agent. What ends a wait is decided by what is stored, then by time: a recorded
 * result, a decision or a signal, and only then the timeout. The first result that is stored counts.
 */
export class CodeWaits {
  private readonly params: Params
  private readonly open: RecordedWait[] = []
  /** Signals as they were read last. */
  private kept: Signal[] = []
  /** One after the other: no two waits take the same signal. */
  private queue: Promise<unknown> = Promise.resolve()

  constructor(params: Params) {
    this.params = params
  }

  /** Those that have not ended, as the record shows them. */
  get waits(): Wait[] {
    return this.open.map(({ step }) => toWait(step))
  }

  /** The value of a wait; `open` if it has not ended. @throws AttemptStopped, Unavailable, InvalidWait */
  begin(name: string, call: WaitCall): Promise<{ value: Json } | 'open'> {
    const beginning = this.queue.then(() => this.beginNext(name, call))
    this.queue = beginning.catch(() => undefined)
    return beginning
  }

  private async beginNext(name: string, call: WaitCall): Promise<{ value: Json } | 'open'> {
    const recorded = (this.find(name) ?? (await this.record(name, call))) as RecordedWait
    const ended = recorded.results.get(resultIdOf(recorded.step)) ?? (await this.findEnd(recorded))
    if (ended) return { value: toValue(recorded.step.wait, ended) }
    if (this.open.length >= MAX_OPEN_WAITS) throw new InvalidWait(TOO_MANY_WAITS)
    this.open.push(recorded)
    return 'open'
  }

  /** Whether an earlier attempt has begun it. */
  isRecorded(name: string): boolean {
    return this.find(name) !== undefined
  }

  private find(name: string): RecordedStep | undefined {
    return this.params.journal.recorded.find(({ step }) => step.kind === 'WAIT' && step.name === name)
  }

  private record(name: string, call: WaitCall): Promise<RecordedStep> {
    const { journal, engine, findRecordedEnd } = this.params
    const now = engine.system.now()
    const at = new Date(now).toISOString()
    const wait = toRequest(name, call, now)
    findRecordedEnd?.(name, wait)
    return journal.append({ kind: 'WAIT', name, wait, startedAt: at, finishedAt: at })
  }

  /** Stores what has ended the wait, if anything has. */
  private async findEnd(recorded: RecordedWait): Promise<CallResult | null> {
    const { name, wait } = recorded.step
    const { findRecordedEnd } = this.params
    if (findRecordedEnd) {
      const end = findRecordedEnd(name, wait)
      return end && this.store(recorded, end)
    }
    const taken = wait.kind === 'signal' ? await this.takeSignal(recorded, wait) : null
    if (taken) return taken
    const { system } = this.params.engine
    if (wait.until === null || Date.parse(wait.until) > system.now()) return null
    return this.store(recorded, { value: wait.kind === 'approval' ? timedOut(isoNow(system)) : null })
  }

  /** The first signal that no wait has used. One that does not match the schema is skipped for good. */
  private async takeSignal(recorded: RecordedWait, wait: SignalRequest): Promise<CallResult | null> {
    const check = checkOf(recorded.step.name, wait)
    const { maskData = (data) => data } = this.params
    for await (const unread of this.unreadSignals(wait.signals)) {
      const signal = { ...unread, data: maskData(unread.data) }
      const [violation] = check(signal.data)
      if (!violation) {
        const value = wait.isAny ? { signal: signal.name, data: signal.data } : signal.data
        return this.store(recorded, { value, signals: { taken: signal.id, skipped: [] } })
      }
      await this.skip(recorded, signal, violation.message)
    }
    return null
  }

  /** An attempt that takes many signals reads them once: those that are stored meanwhile come after them. */
  private async *unreadSignals(names: string[]): AsyncGenerator<Signal> {
    const { journal, engine, execution } = this.params
    const executionId = execution.id
    const split = () => {
      const used = usedSignals(journal.recorded)
      const unread = this.kept.filter(({ id, name }) => names.includes(name) && !used.has(id))
      return { unread, usedIds: this.kept.flatMap(({ id }) => (used.has(id) ? [id] : [])) }
    }
    yield* split().unread
    this.kept = await engine.signals.list({ executionId })
    const { unread, usedIds: ids } = split()
    if (ids.length > MAX_USED_SIGNALS) await engine.signals.forget({ executionId, ids })
    yield* unread
  }

  private async skip(recorded: RecordedWait, { id }: Signal, reason: string): Promise<void> {
    const signals = { taken: null, skipped: [{ id, reason }] }
    await this.store(recorded, { callId: `skipped-${id}`, value: { skipped: id, reason }, signals })
  }

  /** Returns the first result that was stored. */
  private async store(
    recorded: RecordedWait,
    {
      callId = resultIdOf(recorded.step),
      value,
      ...rest
    }: { callId?: string; value: Json } & Pick<CallResult, 'signals'>,
  ): Promise<CallResult> {
    const { journal, engine } = this.params
    const times = { startedAt: recorded.step.startedAt, finishedAt: isoNow(engine.system) }
    await journal.appendResult(recorded, { callId, result: { ok: true, value }, ...rest, ...times })
    return recorded.results.get(callId) as CallResult
  }
}

/** A wait that ends the run: the agent is at fault. */
export class InvalidWait extends Error {}

const TOO_MANY_WAITS = `A run may wait for ${MAX_OPEN_WAITS} things at the same time.`

/** Schemas of waits are not checked before: some fail only with certain data. @throws InvalidWait, now or then */
export function checkOf(name: string, { schema }: SignalRequest): Validator {
  if (!schema) return () => []
  const guard = <T>(use: () => T): T => {
    try {
      return use()
    } catch (cause) {
      throw new InvalidWait(`The schema of the wait "${name}" is not valid: ${(cause as Error).message}`)
    }
  }
  const check = guard(() => compileValidator(schema))
  return (value) => guard(() => check(value))
}

/** Under this call id the result of a wait is recorded. */
export const resultIdOf = ({ wait }: WaitStep): string => (wait.kind === 'approval' ? wait.id : WAIT_RESULT)

function toRequest(name: string, call: WaitCall, now: number): WaitRequest {
  const after = (seconds: number) => new Date(now + seconds * 1000).toISOString()
  switch (call.kind) {
    case 'sleep':
      return { kind: 'sleep', until: 'until' in call ? call.until : after(call.seconds) }
    case 'signal': {
      const { signals, isAny, timeoutSeconds, schema, tellsCancel } = call
      const until = timeoutSeconds === null ? null : after(timeoutSeconds)
      return {
        ...{ kind: 'signal', signals, isAny, until },
        ...(schema && { schema: schema as JsonObject }),
        ...(tellsCancel && { tellsCancel }),
      }
    }
    case 'approval': {
      const { title, dataJson, timeoutSeconds } = call
      const until = after(timeoutSeconds ?? APPROVAL_TIMEOUT_SECONDS.default)
      return { kind: 'approval', id: approvalIdOfWait(name), title, data: JSON.parse(dataJson), until }
    }
  }
}

function toWait({ name, number, startedAt, wait }: WaitStep): Wait {
  const { kind, until } = wait
  return {
    kind,
    name,
    since: startedAt,
    until,
    ...(kind === 'approval' && { id: wait.id }),
    step: number,
    ...(kind === 'signal' && { signals: wait.signals }),
  }
}

/** What the agent gets. */
function toValue(wait: WaitRequest, { result }: CallResult): Json {
  const value = result.ok ? result.value : null
  if (wait.kind !== 'approval') return value
  const { decision, input, note, by } = value as Decision
  return { decision, data: input ?? wait.data, note, by }
}

/** The waits of a run that have ended, with their values as JSON, by name. */
export function endedWaits(recorded: readonly RecordedStep[]): [name: string, json: string][] {
  return recorded.flatMap(({ step, results }): [string, string][] => {
    const result = step.kind === 'WAIT' ? results.get(resultIdOf(step)) : undefined
    return step.kind === 'WAIT' && result ? [[step.name, JSON.stringify(toValue(step.wait, result))]] : []
  })
}
