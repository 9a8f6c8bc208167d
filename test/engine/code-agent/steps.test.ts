import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import { Unavailable } from '../../../lib/core/errors.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { attempt } from '../../../lib/engine/worker/attempt.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { engineOn } from '../../support/engine.ts'
import { anExecution, leased } from '../../support/executions.ts'
import { newOrganization, sharedTable } from '../../support/organization.ts'

const folder = mkdtempSync(join(tmpdir(), 'aes-code-steps-'))
const table = sharedTable()
const engine = engineOn(table)
let version: Version

beforeAll(async () => {
  version = await (await newOrganization()).publish('three-steps')
})
afterAll(() => rmSync(folder, { recursive: true }))

/** An execution with a live lease. */
async function started(input: Record<string, string> = {}) {
  const log = join(folder, system.newId())
  const { organizationId, agentId, id: versionId } = version
  const lease = { owner: system.newId(), expiresAt: Date.now() + 60_000 }
  const execution = anExecution({ organizationId, agentId, versionId, input: { log, ...input }, lease })
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
    const ended = await attempt(engine, execution, version)
    expect(ended).toMatchObject({
      kind: 'completed',
      execution: { status: 'SUCCESS', output: { values: [1, 2, 3] }, steps: 0 },
    })
    expect(computed()).toEqual(['first', 'second', 'third'])
  })

  it.each([1, 2, 3, 4])(
    'does not repeat the steps stored before write %i, at which its worker died',
    async (n) => {
      const { execution, computed } = await started()
      expect(await attempt(dyingAt(n), execution, version)).toMatchObject({ kind: 'released' })
      const stored = (await engine.steps.read({ executionId: execution.id })).length
      await expireLease(execution)
      const before = computed().length
      expect(await processMessage(engine, execution.id)).toBe('processed')
      expect(await engine.executions.get(execution)).toMatchObject({
        status: 'SUCCESS',
        output: { values: [1, 2, 3] },
      })
      expect(computed().length - before).toBe(3 - stored)
    },
  )

  it('rejects a name that was used before', async () => {
    const { execution } = await started({ name: 'first' })
    const ended = await attempt(engine, execution, version)
    const message = 'The step name "first" is used twice in this run; step names must be unique.'
    expect(ended).toMatchObject({
      kind: 'completed',
      execution: { status: 'ERROR', error: { code: 'AgentFailed', message } },
    })
  })

  it('never shows an error of the database to the agent', async () => {
    const { execution } = await started()
    const append = () => Promise.reject(new Unavailable(new Error('throttled')))
    const result = await attempt({ ...engine, steps: { ...engine.steps, append } }, execution, version)
    expect(result).toMatchObject({ kind: 'released' })
    expect(await engine.executions.get(execution)).toMatchObject({ status: 'IN_PROGRESS', lease: null })
  })

  it('writes no step after the lease is lost', async () => {
    const { execution } = await started()
    await expireLease(execution)
    const lease = { owner: system.newId(), expiresAt: Date.now() + 60_000 }
    await engine.executions.claim({ id: execution.id, lease, now: Date.now() })
    expect(await attempt(engine, execution, version)).toEqual({ kind: 'lost' })
    expect(await engine.steps.read({ executionId: execution.id })).toEqual([])
  })
})
