import { isDeepStrictEqual } from 'node:util'
import type { Version } from '../../core/agent.ts'
import type { LeasedExecution } from '../../core/execution.ts'
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { MAX_CODE_STEPS } from '../../core/limits.ts'
import { ModelConfigurationError } from '../../core/model.ts'
import { NO_COST, type Usage } from '../../core/model-usage.ts'
import { findExcess } from '../../core/payload-size.ts'
import type { RecordedStep, Step } from '../../core/step.ts'
import { costOf, findPrice } from '../../models/prices/price-table.ts'
import { MaskedStream } from '../../tools/secret-mask.ts'
import type { Secrets } from '../../tools/secrets.ts'
import type { Journal, NewStep } from '../checkpoints/journal.ts'
import { openLiveResponse } from '../checkpoints/live-response.ts'
import { type Engine, isoNow } from '../engine.ts'
import { RunBudget } from '../model-agent/run-budget.ts'
import { openRunLimits, type RunLimits } from '../model-agent/run-limits.ts'
import { RemoteFailure } from './remote-failure.ts'

type Params = {
  engine: Engine
  execution: LeasedExecution
  version: Version
  journal: Journal
  secrets: Secrets
}

const MAX_NAME_CHARACTERS = 200

/**
 * Records what a remote agent says in its stream: steps, logs, what its models have used, and deltas, which are the
 * text of the response that the next usage ends. A request that is retried joins the run that its key names, which says
 * the same again: what is recorded already is neither recorded nor counted twice.
 */
export class StreamRecord {
  readonly limits: RunLimits | null
  private readonly params: Params
  private readonly budget: RunBudget | null
  private readonly live: ReturnType<typeof openLiveResponse>
  private log: MaskedStream
  /** The text of the response that is arriving. */
  private text = ''
  private beganAt: string
  /** Steps of earlier requests that this one has not said again. Empty once it says something else. */
  private known: RecordedStep[] = []

  constructor(params: Params) {
    const { engine, execution, journal, secrets } = params
    this.params = params
    this.limits = openRunLimits(engine, execution)
    this.budget = RunBudget.of(params)
    this.live = openLiveResponse({ execution, mask: secrets.texts, journal, steps: engine.steps })
    this.log = new MaskedStream(secrets.texts)
    this.beganAt = isoNow(engine.system)
  }

  /** A request begins: what the last one did not end is void. */
  begin(): void {
    const { journal, engine } = this.params
    if (this.text !== '') this.live.fail()
    this.text = ''
    this.known = journal.recorded.filter(({ step }) => step.kind !== 'WAIT')
    this.beganAt = isoNow(engine.system)
  }

  /** @throws RemoteFailure for a line that is wrong, or that the run may not spend; AttemptStopped, Unavailable */
  async add(line: JsonObject): Promise<void> {
    const { step, log, usage, delta, output, error } = line
    if (output === undefined && error === undefined) this.assertMayGoOn()
    if (step !== undefined) await this.addStep(step)
    if (log !== undefined) this.addLog(log)
    if (delta !== undefined) this.addDelta(delta)
    if (usage !== undefined) await this.addUsage(usage)
  }

  /** A text that no usage has ended is a response, too. @throws AttemptStopped, Unavailable */
  async end(): Promise<void> {
    if (this.text !== '') await this.appendResponse(NO_COST)
  }

  close(): void {
    this.params.journal.log(this.log.end())
    this.live.close(this.params.journal.recorded.length)
  }

  private assertMayGoOn(): void {
    const { journal } = this.params
    journal.assertMayBegin()
    const excess = this.budget?.excess
    if (excess) throw new RemoteFailure(excess.message, { code: excess.code })
    if (journal.recorded.length >= MAX_CODE_STEPS)
      throw new RemoteFailure(`The agent began more than ${MAX_CODE_STEPS} steps.`, {
        code: 'MaxAgentStepsExceeded',
      })
  }

  private async addStep(given: Json): Promise<void> {
    await this.end()
    const { name, ...rest } = isJsonObject(given) ? given : { detail: given }
    const [detail, ...others] = Object.keys(rest)
    const value = others.length === 0 && (detail ?? 'detail') === 'detail' ? (rest.detail ?? null) : rest
    const text = typeof name === 'string' && name !== '' ? name : 'step'
    const { secrets } = this.params
    await this.append({
      kind: 'CODE',
      name: secrets.maskText(text).slice(0, MAX_NAME_CHARACTERS).toWellFormed(),
      value: secrets.mask(value),
    })
  }

  private addLog(given: Json): void {
    const { level, message } = isJsonObject(given) ? given : { message: given }
    const text = typeof message === 'string' ? message : JSON.stringify(message ?? given)
    const { journal } = this.params
    journal.log(this.log.push(`${typeof level === 'string' ? `${level.toUpperCase()} ` : ''}${text}\n`))
  }

  private addDelta(delta: Json): void {
    if (typeof delta !== 'string') throw invalid('delta', 'text')
    const { journal } = this.params
    if (this.text === '') this.live.begin(journal.recorded.length + 1)
    this.text += delta
    const excess = this.text.length > 1_000_000 && findExcess('The text of a response', this.text)
    if (excess) throw new RemoteFailure(excess.message, excess)
    this.live.add({ text: delta })
  }

  private async addUsage(given: Json): Promise<void> {
    const { model, inputTokens, outputTokens } = isJsonObject(given) ? given : {}
    if (model !== undefined && model !== null && typeof model !== 'string')
      throw invalid('usage.model', 'text')
    const usage = {
      inputTokens: toCount('inputTokens', inputTokens),
      outputTokens: toCount('outputTokens', outputTokens),
    }
    const { environment = process.env } = this.params.engine
    // Null also for a name that is not one of this service.
    const price = await findPrice(model ?? '', environment).catch((error: unknown) => {
      if (error instanceof ModelConfigurationError) return null
      throw error
    })
    const cost = price && { costUsd: costOf(price, usage) }
    await this.appendResponse({ ...usage, ...cost }, model || undefined)
  }

  private async appendResponse(usage: Usage, model?: string): Promise<void> {
    const { secrets, journal } = this.params
    const text = secrets.maskText(this.text).toWellFormed()
    this.text = ''
    const isNew = await this.append({
      kind: 'MODEL',
      ...(model && { model }),
      ...{ text, calls: [], messages: [], usage, stopReason: 'stop' },
    })
    if (model) journal.model = model
    if (isNew) await this.limits?.add(usage)
  }

  /** @returns whether it is not known */
  private async append(step: WithoutTimes): Promise<boolean> {
    const [known, ...others] = this.known
    if (known && isSame(known.step, step)) {
      this.known = others
      return false
    }
    this.known = []
    const { journal, engine } = this.params
    const finishedAt = isoNow(engine.system)
    await journal.append({ ...step, startedAt: this.beganAt, finishedAt } as NewStep)
    this.beganAt = finishedAt
    return true
  }
}

type WithoutTimes = NewStep extends infer S
  ? S extends NewStep
    ? Omit<S, 'startedAt' | 'finishedAt'>
    : never
  : never

/** Prices may have changed. */
function isSame(known: Step, step: WithoutTimes): boolean {
  if (known.kind === 'CODE' && step.kind === 'CODE')
    return known.name === step.name && isDeepStrictEqual(known.value, step.value)
  if (known.kind !== 'MODEL' || step.kind !== 'MODEL') return false
  const [a, b] = [known.usage, step.usage]
  const isSameUsage = a.inputTokens === b.inputTokens && a.outputTokens === b.outputTokens
  return isSameUsage && known.model === step.model && known.text === step.text
}

const invalid = (name: string, expected: string) =>
  new RemoteFailure(`The stream of the agent has a ${name} that is not ${expected}.`)

function toCount(name: string, value: Json | undefined): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw invalid(`usage.${name}`, 'a whole number of at least 0')
}
