import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { execute } from '../../../lib/engine/worker/execute.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { engineOn } from '../../support/engine.ts'
import { anExecution } from '../../support/executions.ts'
import { newOrganization, sharedTable } from '../../support/organization.ts'

const folder = mkdtempSync(join(tmpdir(), 'aes-code-steps-'))
const table = sharedTable()
const engine = engineOn(table)
let version: Version

beforeAll(async () => {
  version = await (await newOrganization()).publish('stepping')
})
afterAll(() => rmSync(folder, { recursive: true }))

/** An execution that a worker holds. */
async function started(input: Record<string, string> = {}) {
  const log = join(folder, system.newId())
  const { organizationId, agentId, id: versionId } = version
  const lease = { owner: system.newId(), expiresAt: Date.now() + 60_000 }
  const execution = anExecution({ organizationId, agentId, versionId, input: { log, ...input }, lease })
  await engine.executions.create({ execution })
  return { execution, computed: () => readFileSync(log, 'utf8').trim().split('\n').sort() }
}

/** Makes a lease run out without its worker knowing it: another one may take the execution up. */
const runOut = ({ id }: Execution) =>
  table.update({ pk: `EXEC#${id}`, sk: 'RECORD' }, { set: { leaseExpiresAt: Date.now() - 1 } })

const crash = new Error('the worker dies here')

/** An engine whose process dies at its nth write of a step. */
function dyingAt(n: number): Engine {
  let writes = 0
  const append: typeof engine.steps.append = (params) =>
    ++writes === n ? Promise.reject(crash) : engine.steps.append(params)
  const finish = () => Promise.reject(crash)
  return { ...engine, steps: { ...engine.steps, append }, executions: { ...engine.executions, finish } }
}

describe('context.step', () => {
  it('computes each step once, and its results make the output', async () => {
    const { execution, computed } = await started()
    const ended = await execute(engine, execution, version)
    expect(ended).toMatchObject({
      kind: 'ended',
      execution: { status: 'SUCCESS', output: { values: [1, 2, 3] }, steps: 0 },
    })
    expect(computed()).toEqual(['first', 'second', 'third'])
  })

  it.each([1, 2, 3, 4])(
    'does not compute again what was stored before write %i, at which its worker died',
    async (n) => {
      const { execution, computed } = await started()
      await expect(execute(dyingAt(n), execution, version)).rejects.toBe(crash)
      const stored = (await engine.steps.read({ executionId: execution.id })).length
      await runOut(execution)
      const before = computed().length
      expect(await processMessage(engine, execution.id)).toBe('ran')
      expect(await engine.executions.get(execution)).toMatchObject({
        status: 'SUCCESS',
        output: { values: [1, 2, 3] },
      })
      expect(computed().length - before).toBe(3 - stored)
    },
  )

  it('refuses a name that was used before', async () => {
    const { execution } = await started({ name: 'first' })
    const ended = await execute(engine, execution, version)
    const message = 'The step name "first" is used twice in one run; each step needs its own.'
    expect(ended).toMatchObject({
      kind: 'ended',
      execution: { status: 'ERROR', error: { code: 'AgentFailed', message } },
    })
  })

  it('stops a worker that has lost its lease, which writes no step', async () => {
    const { execution } = await started()
    await runOut(execution)
    const lease = { owner: system.newId(), expiresAt: Date.now() + 60_000 }
    await engine.executions.claim({ id: execution.id, lease, now: Date.now() })
    expect(await execute(engine, execution, version)).toEqual({ kind: 'lost' })
    expect(await engine.steps.read({ executionId: execution.id })).toEqual([])
  })
})
