import { describe, expect, it, vi } from 'vitest'
import { UNLIMITED } from '../../../lib/core/access.ts'
import { ExecutionNotFound } from '../../../lib/core/resource-errors.ts'
import { cancelExecution } from '../../../lib/engine/executions/change-execution.ts'
import { onceCompleted } from '../../../lib/engine/wait-for-completion.ts'
import { system } from '../../../lib/system.ts'
import { engineOn } from '../../support/engine/engine-on.ts'
import { anExecution } from '../../support/engine/executions.ts'
import { engineTable } from '../../support/tables/memory-table.ts'

const engine = engineOn(await engineTable())

async function openExecution() {
  const execution = anExecution({})
  await engine.executions.create({ execution })
  const notified = vi.fn()
  onceCompleted(execution.id, notified)
  return { ...execution, notified }
}

const referenceTo = ({ id, organizationId }: { id: string; organizationId: string }) => ({
  executionId: id,
  access: { ...UNLIMITED, organizationId, tokenId: system.newId() },
})

describe('cancelExecution', () => {
  it('ends the execution and notifies its worker in this process; a final one does not change', async () => {
    const { notified, ...execution } = await openExecution()
    const cancelled = await cancelExecution(engine, referenceTo(execution))
    expect(cancelled).toMatchObject({ status: 'ERROR', error: { code: 'Cancelled' } })
    expect(notified).toHaveBeenCalledTimes(1)
    expect(await cancelExecution(engine, referenceTo(execution))).toEqual(cancelled)
  })

  it.each([
    ['an unknown execution', 'id'],
    ['one of another organization', 'organizationId'],
  ])('rejects %s', async (_, member) => {
    const reference = referenceTo({ ...(await openExecution()), [member]: system.newId() })
    await expect(cancelExecution(engine, reference)).rejects.toThrow(ExecutionNotFound)
  })
})
