import { describe, expect, it, vi } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import { Unavailable } from '../../../lib/core/errors.ts'
import type { Execution, Outcome } from '../../../lib/core/execution.ts'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import { NO_USAGE } from '../../../lib/core/model-usage.ts'
import { LIVE, type Replay, type Verdict } from '../../../lib/core/trial.ts'
import { judge } from '../../../lib/engine/replay/judge.ts'
import { attempt } from '../../../lib/engine/worker/attempt.ts'
import { logger } from '../../../lib/logger.ts'
import { engineOn } from '../../support/engine/engine-on.ts'
import { executionOf, leased, NO_PROGRESS } from '../../support/engine/executions.ts'
import { publishFixture } from '../../support/engine/organization.ts'
import { engineTable } from '../../support/tables/memory-table.ts'

type End = JsonObject | string

const isError = (end: End): end is string => typeof end === 'string'

const originalOf = (end: End, corrected?: JsonObject): Pick<Execution, 'output' | 'error' | 'feedback'> => ({
  output: isError(end) ? null : end,
  error: isError(end) ? { code: end, message: end } : null,
  feedback: corrected
    ? { rating: -1, correctedOutput: corrected, note: null, updatedAt: '2026-01-01T00:00:00.000Z' }
    : null,
})

const outcomeOf = (end: End): Outcome =>
  isError(end)
    ? { status: 'ERROR', error: { code: end, message: 'Another one.' } }
    : { status: 'SUCCESS', output: end, ...NO_PROGRESS }

const [wrong, right, other] = [{ sum: 1 }, { sum: 2 }, { sum: 3 }]

const changed = (original: number, trial: number) => [{ path: '/sum', original, trial }]
const instead = [{ path: '', trial: right }]

describe('judge', () => {
  it.each<[string, { original: End; corrected?: JsonObject; trial: End }, Verdict, object[]]>([
    ['an equal output', { original: right, trial: { sum: 2.000_000_1 } }, 'SAME', []],
    ['another output', { original: right, trial: other }, 'CHANGED', changed(2, 3)],
    ['the corrected output', { original: wrong, corrected: right, trial: right }, 'CORRECTED', changed(1, 2)],
    ['none of both', { original: wrong, corrected: right, trial: other }, 'CHANGED', changed(1, 3)],
    ['not the confirmed', { original: right, corrected: right, trial: other }, 'REGRESSED', changed(2, 3)],
    ['the confirmed output', { original: right, corrected: right, trial: right }, 'SAME', []],
    ['the same mistake', { original: wrong, corrected: right, trial: wrong }, 'SAME', []],
    ['an output of a failed run', { original: 'TimedOut', trial: right }, 'CHANGED', instead],
    ['its correction', { original: 'TimedOut', corrected: right, trial: right }, 'CORRECTED', instead],
    ['an error', { original: right, trial: 'TimedOut' }, 'ERROR', []],
    ['an error, not the confirmed', { original: right, corrected: right, trial: 'X' }, 'ERROR', []],
    ['the same error', { original: 'TimedOut', trial: 'TimedOut' }, 'SAME', []],
    ['another error', { original: 'TimedOut', trial: 'AgentFailed' }, 'ERROR', []],
    ['a divergence', { original: right, trial: 'Diverged' }, 'DIVERGED', []],
    ['a divergence as in the original', { original: 'Diverged', trial: 'Diverged' }, 'DIVERGED', []],
  ])('%s: %j is %s', (_, { original, corrected, trial }, verdict, differences) => {
    const judgement = judge(originalOf(original, corrected), outcomeOf(trial), { ignore: [] })
    expect(judgement).toEqual({ verdict, differences })
  })

  it('compares nothing that is ignored, also with the correction', () => {
    const judged = (corrected: JsonObject, ignore: string[]) =>
      judge(originalOf({ at: 1, sum: 1 }, corrected), outcomeOf({ at: 2, sum: 1 }), { ignore })
    expect(judged({ at: 3, sum: 2 }, ['/at'])).toEqual({ verdict: 'SAME', differences: [] })
    expect(judged({ at: 3, sum: 1 }, ['/at'])).toEqual({ verdict: 'SAME', differences: [] })
    expect(judged({ at: 2, sum: 1 }, []).verdict).toBe('CORRECTED')
    expect(judged({ at: 2, sum: 1 }, ['']).verdict).toBe('SAME')
    expect(judge(originalOf('TimedOut'), outcomeOf(right), { ignore: [''] }).verdict).toBe('CHANGED')
  })

  it('takes no cost limit of the trial, its tenant or its agent for the end of the original', () => {
    const budget = (details: JsonObject = {}) => ({ code: 'BudgetExceeded', message: 'x', ...details })
    const original = { ...originalOf('BudgetExceeded'), error: budget({ limit: 'maxCostUsd.day', max: 1 }) }
    const verdictOf = (error: Execution['error']) =>
      judge(original, { status: 'ERROR', error: error as never }, { ignore: [] }).verdict
    expect(verdictOf(budget({ limit: 'maxCostUsd.day', max: 1 }))).toBe('ERROR')
    expect(verdictOf(budget({ maxTrialCostUsd: 1 }))).toBe('ERROR')
    expect(verdictOf(budget({ spent: {} }))).toBe('SAME')
    expect(verdictOf(original.error)).toBe('SAME')
  })

  it('says that there are more differences than it keeps', () => {
    const list = (value: number) => ({ items: Array(100).fill(value) })
    expect(judge(originalOf(list(1)), outcomeOf(list(2)), { ignore: [] })).toMatchObject({
      verdict: 'CHANGED',
      isCut: true,
    })
  })
})

const table = await engineTable()

const engine = engineOn(table)

const { executions } = engine

const version = await publishFixture('echo')

const lease = () => ({ owner: 'me', expiresAt: Date.now() + 60_000 })

/** A final execution with this output. */
async function original(output: JsonObject): Promise<Execution> {
  const execution = leased(executionOf(version, { lease: lease() }), 'me')
  await executions.create({ execution })
  const outcome = { status: 'SUCCESS', output, ...NO_PROGRESS } as const
  const ended = await executions.finish({ execution, outcome, finishedAt: new Date().toISOString() })
  if (!ended) throw new Error('The lease is lost.')
  return ended
}

/** The engine, where the output of an execution is what `read` returns. */
const withOutput = (read: () => JsonObject | null): typeof engine => ({
  ...engine,
  executions: {
    ...executions,
    get: async (key) => {
      const found = await executions.get(key)
      return found && Object.defineProperty(found, 'output', { get: read })
    },
  },
})

/** Runs the agent as a repetition of an execution. */
async function repeat(of: Pick<Execution, 'id'>, { on = engine, text = 'a', ...given }: Given = {}) {
  const replay = { ...LIVE, executionId: of.id, fromStep: 1, isTrial: true, defaultModel: null, ...given }
  const execution = leased(executionOf(version, { input: { text }, lease: lease(), replay }), 'me')
  await executions.create({ execution })
  await attempt(on, execution, { version: version as Version })
  return executions.get(execution)
}

type Given = Partial<Replay> & { on?: typeof engine; text?: string }

describe('a run of a trial', () => {
  it('is stored with what became of the original', async () => {
    const { output } = (await repeat(await original({}))) as Execution
    expect(await repeat(await original(output as JsonObject))).toMatchObject({
      source: 'TRIAL',
      judgement: { verdict: 'SAME', differences: [] },
    })
    const changed = await repeat(await original({ ...output, echo: 'b', other: 1e300 }))
    expect(changed?.judgement).toMatchObject({ verdict: 'CHANGED', differences: expect.any(Array) })
    expect(changed?.judgement?.differences).toContainEqual({ path: '/other', original: 1e300 })
    const summary = await executions.getSummary(changed as Execution)
    expect(summary?.judgement).toEqual(changed?.judgement)
  })

  it('has no judgement if it is live, or if its original was deleted', async () => {
    const first = await original({})
    expect(await repeat(first, { isTrial: false })).toMatchObject({ status: 'SUCCESS', judgement: null })
    await executions.delete({ ...first, now: Date.now() })
    const error = { code: 'ExecutionNotFound' }
    expect(await repeat(first)).toMatchObject({ status: 'ERROR', error, judgement: null })
  })

  it('is judged by what is stored if the database rejects its output', async () => {
    const oversized = 'x'.repeat(500_000)
    const rejecting = engineOn({
      ...table,
      update: (key, { set, ...change }) =>
        table.update(key, { ...change, set: { ...set, ...(set?.output !== undefined && { oversized }) } }),
    })
    expect(await repeat(await original({}), { on: rejecting })).toMatchObject({
      status: 'ERROR',
      judgement: { verdict: 'ERROR', differences: [] },
    })
  })

  it('is judged once, however often its end is written', async () => {
    const { output } = (await repeat(await original({}))) as Execution
    let reads = 0
    const counting = async (failures: number) => {
      reads = 0
      let left = failures
      const counted = withOutput(() => (++reads ? output : null))
      const finish: typeof executions.finish = async (params) => {
        if (left-- > 0) throw new Unavailable(new Error('throttled'))
        return executions.finish(params)
      }
      const on = { ...counted, executions: { ...counted.executions, finish } }
      expect((await repeat(await original({}), { on }))?.judgement?.verdict).toBe('SAME')
      return reads
    }
    expect(await counting(2)).toBe(await counting(0))
  })

  it('raises no alarm if it fails unexpectedly', async () => {
    vi.spyOn(logger, 'error').mockImplementation(() => undefined)
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    vi.stubEnv('METRICS_NAMESPACE', 'test')
    const read = () => Promise.reject(new TypeError('broken'))
    const broken = { ...engine, steps: { ...engine.steps, read } }
    expect((await repeat(await original({}), { on: broken }))?.error?.code).toBe('InternalError')
    const written = write.mock.calls.join()
    vi.restoreAllMocks()
    vi.unstubAllEnvs()
    expect(written).not.toContain('ServerErrors')
  })

  it('ends as any other if it cannot be judged', async () => {
    const broken = withOutput(() => {
      throw new Error('broken')
    })
    const ended = await repeat(await original({}), { on: broken })
    expect(ended).toMatchObject({ status: 'SUCCESS', judgement: null, usage: NO_USAGE })
  })
})
