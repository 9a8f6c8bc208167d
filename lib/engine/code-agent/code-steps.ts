import { attemptId, attemptsAt, backoffEnd, endOfStep, stepBackoff } from '../../core/attempts.ts'
import type { Budget } from '../../core/budget.ts'
import type { Json } from '../../core/json/json.ts'
import { MAX_OPEN_WAITS, SUSPENDING_BACKOFF_SECONDS } from '../../core/limits.ts'
import type { CallResult, RecordedStep } from '../../core/step.ts'
import type { Wait } from '../../core/wait.ts'
import type { SecretMask } from '../../tools/secret-mask.ts'
import type { Journal } from '../checkpoints/journal.ts'
import { type Engine, isoNow } from '../engine.ts'
import { toReplayed } from '../replay/recorded-run.ts'
import type { RecordedSteps } from '../replay/recorded-steps.ts'
import { CallWaits } from '../waiting/call-waits.ts'
import type { ChildRuns } from './child-runs.ts'
import { cutMessage, framesOf } from './outcome.ts'
import type { StepAnswer, ThreadMessage } from './thread/protocol.ts'

type Message<T> = Extract<ThreadMessage, { type: T }>

type Params = {
  engine: Pick<Engine, 'system'>
  journal: Journal
  replay: RecordedSteps | null
  mask: SecretMask
  runs: Pick<ChildRuns, 'run' | 'share'>
  /** Counts another step; false if there are too many, which ends the run. */
  countStep: () => boolean
}

/**
 * The steps of one attempt at the run of a code agent. A step whose first attempt succeeds is one item of the journal.
 * Another one begins with the item of its first failure, whose results are its attempts: what was tried is never tried
 * again, whichever worker goes on.
 */
export class CodeSteps {
  private readonly params: Params
  /** Steps whose first attempt failed, by name. */
  private readonly failed: Map<string, RecordedStep>
  /** Backoffs for which the run may be suspended, by the name of the step. */
  private readonly pauses = new Map<string, Wait>()

  constructor(params: Params) {
    this.params = params
    const failed = params.journal.recorded.flatMap((recorded) =>
      recorded.step.kind === 'CODE' && recorded.step.value === undefined
        ? [[recorded.step.name, recorded] as const]
        : [],
    )
    this.failed = new Map(failed)
  }

  /** Backoffs that have not ended, as the record shows them: as many as it may have, the earliest first. */
  waits(others: Wait[]): Wait[] {
    const pauses = [...this.pauses.values()].sort((a, b) => timeOf(a) - timeOf(b))
    return [...others, ...pauses].slice(0, Math.max(MAX_OPEN_WAITS, others.length + 1))
  }

  /** The answer before an attempt; null if the run has ended. @throws AttemptStopped, Unavailable, Diverged */
  async begin({ name, retries }: Message<'step'>): Promise<StepAnswer | null> {
    const found = await this.find(name)
    if (!found) return null
    const { recorded, isTaken } = found
    if (!recorded) return { type: 'begin-step', attempt: 1 }
    return this.answer(recorded, { retries, isTaken })
  }

  /** The same for a step that runs an agent, once that has ended or is suspended. */
  async run({ name, slug, json, parts }: Message<'run'>): Promise<StepAnswer | null> {
    const { runs } = this.params
    const found = await this.find(name)
    if (!found) return null
    const { isTaken } = found
    const recorded = found.recorded ?? (await this.open(name, Date.now(), slug, runs.share(name, parts)))
    if (isTaken || endOfStep(recorded)) return this.answer(recorded, { retries: 0, isTaken })
    try {
      const startedAt = Date.now()
      await this.addAttempt(recorded, await runs.run(recorded, JSON.parse(json)), startedAt)
      return this.answer(recorded, { retries: 0 })
    } catch (error) {
      if (!(error instanceof CallWaits)) throw error
      const [wait] = error.waits
      if (wait) this.pauses.set(name, { ...wait, name, step: recorded.step.number })
      return { type: 'step-waits', delayMs: null, suspends: true }
    }
  }

  /** What is known of a step, in this run or in its original. Null if there are too many steps. */
  private async find(name: string) {
    const { journal, replay, countStep } = this.params
    journal.assertMayBegin()
    this.pauses.delete(name)
    const known = this.failed.get(name)
    const original = replay?.find(name) ?? null
    if (!known && !countStep()) return null
    const recorded = original ? await this.take(name, original, known) : known
    return { recorded, isTaken: original !== null }
  }

  /** @throws AttemptStopped, Unavailable */
  async succeed({ name, json, startedAt }: Message<'step-result'>): Promise<void> {
    const value = JSON.parse(json) as Json
    const recorded = this.failed.get(name)
    if (recorded) await this.addAttempt(recorded, { result: { ok: true, value } }, startedAt)
    else await this.params.journal.append({ kind: 'CODE', name, value, ...this.times(startedAt) })
  }

  /** @throws AttemptStopped, Unavailable */
  async fail({ name, failure, backoff, retries, startedAt }: Message<'step-failed'>): Promise<StepAnswer> {
    const { journal, mask } = this.params
    const recorded = this.failed.get(name) ?? (await this.open(name, startedAt))
    const failures = attemptsAt(recorded).length + 1
    const pause = backoff === null ? null : stepBackoff({ first: backoff, failures, jitter: Math.random() })
    const { finishedAt } = this.times(startedAt)
    const [at] = framesOf(failure)
    const kept = {
      name: cutMessage(failure.name, mask),
      ...(failure.code !== undefined && { code: cutMessage(failure.code, mask) }),
      ...(at && { at }),
      retryAt: pause && new Date(Date.parse(finishedAt) + pause.delayMs).toISOString(),
    }
    const result = { ok: false as const, error: cutMessage(failure.message, mask) }
    await this.addAttempt(recorded, { result, failure: kept }, startedAt)
    journal.assertMayBegin()
    return this.answer(recorded, { retries, backoff: pause?.seconds ?? 0 })
  }

  private answer(
    recorded: RecordedStep,
    { retries, backoff = 0, isTaken = false }: { retries: number; backoff?: number; isTaken?: boolean },
  ): StepAnswer {
    const end = endOfStep(recorded)
    if (end && 'value' in end) return { type: 'step-recorded', json: JSON.stringify(end.value) }
    const attempts = attemptsAt(recorded)
    const last = attempts.at(-1)
    if (last && (end || attempts.length > retries) && !(isTaken && !end)) return toThrown(last)
    const { failure: { retryAt = null } = {}, finishedAt: since = recorded.step.startedAt } = last ?? {}
    const isOver = retryAt === null || recorded.results.has(backoffEnd(retryAt))
    const leftMs = isOver ? 0 : Date.parse(retryAt) - this.params.engine.system.now()
    // The original ended before its next attempt.
    if (!isTaken && leftMs <= 0) return { type: 'begin-step', attempt: attempts.length + 1 }
    // A replay is never suspended.
    const isLong = Math.max(backoff, leftMs / 1_000) >= SUSPENDING_BACKOFF_SECONDS
    const suspends = isTaken || (isLong && !this.params.replay)
    const { name, number } = recorded.step as Extract<RecordedStep['step'], { kind: 'CODE' }>
    if (suspends) this.pauses.set(name, { kind: 'retry', name, since, until: retryAt, step: number })
    return { type: 'step-waits', delayMs: isTaken ? null : leftMs, suspends }
  }

  /** A step of the original, as far as it got, as one of this run. */
  private async take(name: string, original: RecordedStep, known: RecordedStep | undefined) {
    const { journal, engine } = this.params
    const end = endOfStep(original)
    const at = isoNow(engine.system)
    const attempts = attemptsAt(original)
    if (end && 'value' in end && attempts.length === 0)
      return journal.append({ kind: 'CODE', name, value: end.value, startedAt: at, finishedAt: at })
    const { agent } = original.step as Extract<RecordedStep['step'], { kind: 'CODE' }>
    const recorded = known ?? (await this.open(name, Date.now(), agent))
    for (const made of attempts)
      if (!recorded.results.has(made.callId)) await journal.appendAttempt(recorded, toReplayed(made))
    return recorded
  }

  private async open(name: string, startedAt: number, agent?: string, share?: Budget): Promise<RecordedStep> {
    const run = { ...(agent !== undefined && { agent }), ...(share && { share }) }
    const recorded = await this.params.journal.append({
      kind: 'CODE',
      name,
      ...run,
      ...this.times(startedAt),
    })
    this.failed.set(name, recorded)
    return recorded
  }

  private async addAttempt(
    recorded: RecordedStep,
    made: Pick<CallResult, 'result' | 'failure'>,
    startedAt: number,
  ): Promise<void> {
    const callId = attemptId(attemptsAt(recorded).length + 1)
    await this.params.journal.appendAttempt(recorded, { callId, ...made, ...this.times(startedAt) })
  }

  /** @param startedAt by the clock of the thread */
  private times(startedAt: number) {
    const now = this.params.engine.system.now()
    const began = now - Math.max(Date.now() - startedAt, 0)
    return { startedAt: new Date(began).toISOString(), finishedAt: new Date(now).toISOString() }
  }
}

const timeOf = ({ until }: Wait): number => (until === null ? Number.POSITIVE_INFINITY : Date.parse(until))

function toThrown({ result, failure }: CallResult): StepAnswer {
  const { name = 'Error', code } = failure ?? {}
  const message = result.ok ? '' : result.error
  return { type: 'step-threw', failure: { message, name, ...(code !== undefined && { code }) } }
}
