import { describe, expect, it, vi } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import { Unavailable } from '../../../lib/core/errors.ts'
import { type Execution, NO_USAGE } from '../../../lib/core/execution.ts'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import { LIVE, type Replay } from '../../../lib/core/trial.ts'
import { attempt } from '../../../lib/engine/worker/attempt.ts'
import { logger } from '../../../lib/logger.ts'
import { engineOn } from '../../support/engine/engine-on.ts'
import { executionOf, leased, NO_PROGRESS } from '../../support/engine/executions.ts'
import { newOrganization, sharedTable } from '../../support/engine/organization.ts'

const table = sharedTable()
const engine = engineOn(table)
const { executions } = engine
const version = await (await newOrganization()).publish('echo')
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
    const { status, error, judgement } = (await repeat(first)) as Execution
    expect({ status, code: error?.code, judgement }).toEqual({
      status: 'ERROR',
      code: 'ExecutionNotFound',
      judgement: null,
    })
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
      const on = {
        ...engine,
        executions: {
          ...executions,
          get: async (key: { organizationId: string; id: string }) => {
            const found = await executions.get(key)
            return found && Object.defineProperty(found, 'output', { get: () => ++reads && output })
          },
          finish: async (params: Parameters<typeof executions.finish>[0]) => {
            if (left-- > 0) throw new Unavailable(new Error('throttled'))
            return executions.finish(params)
          },
        },
      }
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
    const broken = {
      ...engine,
      executions: {
        ...executions,
        get: async (key: { organizationId: string; id: string }) => {
          const found = await executions.get(key)
          return (
            found &&
            Object.defineProperty(found, 'output', {
              get: () => {
                throw new Error('broken')
              },
            })
          )
        },
      },
    }
    const ended = await repeat(await original({}), { on: broken })
    expect(ended).toMatchObject({ status: 'SUCCESS', judgement: null, usage: NO_USAGE })
  })
})
