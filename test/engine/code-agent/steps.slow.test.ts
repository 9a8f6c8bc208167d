import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { Unavailable } from '../../../lib/core/errors.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { attempt } from '../../../lib/engine/worker/attempt.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { engineOn } from '../../support/engine/engine-on.ts'
import { executionOf, leased } from '../../support/engine/executions.ts'
import { publishFixture } from '../../support/engine/organization.ts'
import { engineTable } from '../../support/tables/memory-table.ts'
import { hostile, resultOf, runHostile } from './run-hostile.ts'

const folder = mkdtempSync(join(tmpdir(), 'aes-code-steps-'))
const table = await engineTable()
const engine = engineOn(table)
const version = await publishFixture('three-steps')
afterAll(() => rmSync(folder, { recursive: true }))

/** An execution with a live lease. */
async function started(input: Record<string, string> = {}) {
  const log = join(folder, system.newId())
  const lease = { owner: system.newId(), expiresAt: Date.now() + 60_000 }
  const execution = executionOf(version, { input: { log, ...input }, lease })
  await engine.executions.create({ execution })
  return {
    execution: leased(execution, lease.owner),
    computed: () => readFileSync(log, 'utf8').trim().split('\n').sort(),
  }
}

/** Expires a lease without its worker noticing, so that another one can claim the execution. */
const expireLease = ({ id }: Execution) =>
  table.update({ pk: `EXEC#${id}`, sk: 'RECORD' }, { set: { leaseExpiresAt: Date.now() - 1 } })

const crash = new Error('the worker dies here')

/** An engine whose process dies at its nth step write. */
function dyingAt(n: number): Engine {
  let writes = 0
  const append: typeof engine.steps.append = (params) =>
    ++writes === n ? Promise.reject(crash) : engine.steps.append(params)
  const die = () => Promise.reject(crash)
  const executions = { ...engine.executions, finish: die, release: die }
  return { ...engine, steps: { ...engine.steps, append }, executions }
}

describe('context.step', () => {
  it('computes each step once', async () => {
    const { execution, computed } = await started()
    const ended = await attempt(engine, execution, { version })
    expect(ended).toMatchObject({
      kind: 'completed',
      execution: { status: 'SUCCESS', output: { values: [1, 2, 3] }, steps: 3 },
    })
    expect(computed()).toEqual(['first', 'second', 'third'])
  })

  it.each([1, 2, 3, 4])(
    'does not repeat the steps stored before write %i, at which its worker died',
    async (n) => {
      const { execution, computed } = await started()
      expect(await attempt(dyingAt(n), execution, { version })).toMatchObject({ kind: 'released' })
      const stored = (await engine.steps.read({ executionId: execution.id })).length
      await expireLease(execution)
      const before = computed().length
      expect(await processMessage(engine, execution.id)).toBe('processed')
      expect(await engine.executions.get(execution)).toMatchObject({
        status: 'SUCCESS',
        output: { values: [1, 2, 3] },
        steps: 3,
      })
      expect(computed().length - before).toBe(3 - stored)
    },
  )

  it.each([
    ['was used before', 'first', '"first" is used twice in this run; step names must be unique.'],
    ['the journal cannot contain', 'a\ud83e', '"a\ufffd" contains half of a surrogate pair.'],
  ])('rejects a name that %s', async (_, name, problem) => {
    const { execution } = await started({ name })
    const message = `The step name ${problem}`
    expect(await attempt(engine, execution, { version })).toMatchObject({
      kind: 'completed',
      execution: { status: 'ERROR', error: { code: 'AgentFailed', message } },
    })
  })

  it('never shows an error of the database to the agent', async () => {
    const { execution } = await started()
    const append = () => Promise.reject(new Unavailable(new Error('throttled')))
    const result = await attempt({ ...engine, steps: { ...engine.steps, append } }, execution, { version })
    expect(result).toMatchObject({ kind: 'released' })
    expect(await engine.executions.get(execution)).toMatchObject({ status: 'IN_PROGRESS', lease: null })
  })

  it('writes no step after the lease is lost', async () => {
    const { execution } = await started()
    await expireLease(execution)
    const lease = { owner: system.newId(), expiresAt: Date.now() + 60_000 }
    await engine.executions.claim({ id: execution.id, lease, now: Date.now() })
    expect(await attempt(engine, execution, { version })).toEqual({ kind: 'lost' })
    expect(await engine.steps.read({ executionId: execution.id })).toEqual([])
  })
})

describe('the result of a step', () => {
  it.each([
    ['function', 'has the type function, which is not JSON.'],
    ['symbol', 'has the type symbol, which is not JSON.'],
    ['toJSON of nothing', 'has the type object, which is not JSON.'],
    ['bigint', 'cannot be serialized as JSON: Do not know how to serialize a BigInt'],
    ['bigint inside', 'cannot be serialized as JSON: Do not know how to serialize a BigInt'],
    ['circular', 'cannot be serialized as JSON: Converting circular structure to JSON'],
    ['getter that throws', 'cannot be serialized as JSON: not readable'],
    ['toJSON that throws a symbol', 'cannot be serialized as JSON: Symbol(x)'],
    ['deep', 'is nested deeper than 100 levels.'],
    ['very deep', 'is nested deeper than 100 levels.'],
  ])('that is not JSON ends the run with the name of the step: %s', async (text, problem) => {
    const { status, attempts, error } = await runHostile(hostile, 'return from a step', { text })
    expect([status, attempts, error?.code]).toEqual(['ERROR', 1, 'AgentFailed'])
    expect(error?.message).toContain(`The result of the step "load orders" ${problem}`)
    expect(error?.at).toMatch(/^agent\.ts:\d+/)
  })

  it.each([
    ['7 MB', 7_000_002],
    ['4 MB of 3 bytes each', 6_300_002],
  ])('that is larger than an output may be ends the run: %s', async (text, bytes) => {
    expect((await runHostile(hostile, 'return from a step', { text })).error).toMatchObject({
      code: 'OutputTooLarge',
      message: `The result of the step "load orders" has ${bytes} bytes; the limit is 6000000.`,
    })
  })

  it.each([
    ['undefined', 'null'],
    ['as deep as allowed', `${'['.repeat(100)}null${']'.repeat(100)}`],
  ])('may be: %s', async (text, result) => {
    expect(await resultOf(hostile, 'return from a step', { text })).toBe(result)
  })

  it.each(['function', '7 MB'])('that cannot be stored is an error to handle: %s', async (text) => {
    expect(await resultOf(hostile, 'catch the error of a step', { text })).toBe('caught')
  })

  it('needs a function that computes it', async () => {
    const { error } = await runHostile(hostile, 'step without a function')
    expect(error?.message).toBe('The step "load orders" needs a function as its last argument.')
  })

  it('is one of at most 10,000', async () => {
    expect(await runHostile(hostile, 'steps at once', { text: '10001' })).toMatchObject({
      status: 'ERROR',
      error: { code: 'MaxAgentStepsExceeded', message: 'The agent began more than 10000 steps.' },
    })
  })
})

it('an error that throws when it is read ends the run', async () => {
  const { error } = await runHostile(hostile, 'throw what cannot be read')
  const message = 'The agent threw a value that cannot be read.'
  expect(error).toMatchObject({ code: 'AgentFailed', message })
})
