import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { UNLIMITED } from '../../lib/core/access.ts'
import { decideApproval } from '../../lib/engine/waiting/decide-approval.ts'
import { sendSignal } from '../../lib/engine/waiting/send-signal.ts'
import { processMessage } from '../../lib/engine/worker/process-message.ts'
import { system } from '../../lib/system.ts'
import { startScriptedModel } from '../support/scripted-model/start-scripted-model.ts'
import { EMULATORS } from '../support/tables/emulators.ts'
import { createTable } from './create-table.ts'
import { openEngine } from './open-engine.ts'
import { readSuspended } from './suspended-files.ts'

const { items, manifest } = readSuspended()
const { organizationId, executions, exportedAt } = manifest
const access = { ...UNLIMITED, organizationId, tokenId: organizationId }
const scripted = await startScriptedModel()
afterAll(scripted.stop)

describe.each(EMULATORS)('suspended executions of the recorded table, on %s', (emulator) => {
  let table: Awaited<ReturnType<typeof createTable>>
  let engine: ReturnType<typeof openEngine>
  let now = exportedAt + 60_000

  beforeAll(async () => {
    const endpoint = inject(emulator)
    table = await createTable(endpoint, items)
    engine = openEngine({ endpoint, tableName: table.name }, scripted, { ...system, now: () => now })
  })
  afterAll(() => table.delete())

  const wake = (id: string) => {
    const message = { wakes: true, receiveCount: 1, changeVisibility: async () => undefined }
    return processMessage(engine, id, { message })
  }
  const outputOf = async (id: string) => {
    const execution = await engine.executions.get({ organizationId, id })
    return { status: execution?.status, attempts: execution?.attempts, output: execution?.output }
  }
  const ended = (before: number, waited: unknown) => ({
    status: 'SUCCESS',
    attempts: 2,
    output: { before, waited: JSON.stringify(waited) },
  })

  it('are due as when they were recorded', async () => {
    const due: unknown[] = []
    for await (const page of engine.timers.read({ before: exportedAt + 8 * 86_400_000 })) due.push(...page)
    const ids = Object.values(executions).map(({ id }) => id)
    expect(due).toHaveLength(ids.length)
    for (const id of ids)
      expect(due).toContainEqual(expect.objectContaining({ stale: expect.objectContaining({ id }) }))
  })

  it.each(Object.entries(executions))('are not resumed before: %s', async (_, { id }) => {
    expect(await wake(id)).toBe('closed')
  })

  it('continue with a signal', async () => {
    const { id, before } = executions.signal
    await sendSignal(engine, { access, executionId: id, name: 'paid', data: { usd: 5 } })
    expect(await wake(id)).toBe('processed')
    expect(await outputOf(id)).toEqual(ended(before, { usd: 5 }))
  })

  it('continue with a decision', async () => {
    const { id, before } = executions.approval
    const suspended = await engine.executions.getSuspended({ id })
    const approvalId = suspended?.suspension.waits[0]?.id ?? ''
    const decision = { decision: 'approve', input: null, note: 'ok' } as const
    const { by } = await decideApproval(engine, { access, executionId: id, approvalId, ...decision })
    expect(await wake(id)).toBe('processed')
    expect(await outputOf(id)).toEqual(
      ended(before, { decision: 'approve', data: { usd: 200 }, note: 'ok', by }),
    )
  })

  it('continue after their time', async () => {
    const { id, before } = executions.sleep
    now = exportedAt + 3_600_000
    expect(await wake(id)).toBe('processed')
    expect(await outputOf(id)).toEqual(ended(before, null))
  })
})
