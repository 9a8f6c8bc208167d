import { afterEach, describe, expect, inject, it, vi } from 'vitest'
import { resolveVersion } from '../../../lib/agents/resolve-version.ts'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import { LimitExceeded } from '../../../lib/core/limit-errors.ts'
import { NO_LIMITS } from '../../../lib/core/usage-limits.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import type { SubmitEngine } from '../../../lib/engine/submit/accept.ts'
import { buildRunRequest } from '../../../lib/engine/submit/run-request.ts'
import { submitSync } from '../../../lib/engine/submit/submit.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { admission } from '../../../lib/limits/admission.ts'
import { system } from '../../../lib/system.ts'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'
import { engineOn } from '../../support/engine/engine-on.ts'
import { newOrganization } from '../../support/engine/organization.ts'
import { aMessage } from '../../support/engine/scripted-engine.ts'

let own = await newOrganization()
await own.publish('echo')
afterEach(() => vi.restoreAllMocks())

/** `processes`: whether a runner receives what is sent. */
function anEngine({ processes = true, syncDeadlineMs = 60_000 } = {}) {
  const engine = engineOn(openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: inject('dynamodb') }))
  const sent: { executionId: string; sharesWorker?: boolean }[] = []
  const running: Promise<unknown>[] = []
  const shared: SubmitEngine = {
    ...engine,
    admit: admission({ executions: engine.executions, system }, 1_000),
    queue: {
      send: async (message) => {
        sent.push(message)
        if (processes) running.push(processMessage(shared, message.executionId, aMessage()))
      },
    },
    syncDeadlineMs,
    sharesProcess: true,
  }
  return { engine: shared, sent, running }
}

type Options = { stop?: AbortSignal; tenantId?: string }
async function run(engine: SubmitEngine, input: JsonObject, { stop, ...overrides }: Options = {}) {
  const of = { organizationId: own.id, idOrSlug: 'echo', versionId: undefined, run: null }
  const { version } = await resolveVersion({ store: engine.agents, ...of })
  return (await submitSync(engine, await buildRunRequest(version, input, overrides), stop)).execution
}

describe('a synchronous run of code, where other runs share the process', () => {
  it('is executed by a runner of its own, and answered with its output', async () => {
    const { engine, sent, running } = anEngine()
    const { id, status, output, attempts } = await run(engine, { text: 'elsewhere' })
    expect([status, output, attempts]).toEqual(['SUCCESS', { text: 'elsewhere' }, 1])
    expect(sent).toMatchObject([{ executionId: id, sharesWorker: false }])
    await Promise.all(running)
  })

  it.each([
    ['its deadline', { syncDeadlineMs: 50 }, undefined],
    ['its request has to end', {}, AbortSignal.abort()],
  ])('is in progress if no runner has executed it by the time that %s has come', async (_, options, stop) => {
    const { engine } = anEngine({ processes: false, ...options })
    expect((await run(engine, { text: 'late' }, stop && { stop })).status).toBe('IN_PROGRESS')
  })

  it('is in progress if its message cannot be sent: the sweeper sends another one', async () => {
    const { engine } = anEngine({ processes: false, syncDeadlineMs: 50 })
    engine.queue.send = () => Promise.reject(new Error('throttled'))
    expect((await run(engine, { text: 'lost' })).status).toBe('IN_PROGRESS')
  })

  it('waits for no turn: it is refused, as elsewhere, where a limit is reached', async () => {
    // Whether an organization has limits is read once in a while.
    own = await newOrganization()
    await own.publish('echo')
    const { engine } = anEngine({ processes: false, syncDeadlineMs: 50 })
    const tenantId = system.newId()
    const updatedAt = new Date().toISOString()
    const limits = { ...NO_LIMITS, maxOpenExecutions: 1, queueWhenFull: true, updatedAt }
    await engine.limits?.put({ organizationId: own.id, subject: { kind: 'tenant', id: tenantId }, limits })
    await run(engine, { text: 'first' }, { tenantId })
    await expect(run(engine, { text: 'second' }, { tenantId })).rejects.toThrow(LimitExceeded)
  })
})
