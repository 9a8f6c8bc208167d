import { expect, it } from 'vitest'
import type { Webhook } from '../../../lib/core/notification.ts'
import { openDestinations } from '../../../lib/engine/notifications/destinations.ts'
import { anExecution } from '../../support/engine/executions.ts'

it('waits for the webhooks of an organization that are refreshed while they are read', async () => {
  const execution = anExecution()
  const types = ['execution.succeeded']
  const webhook = { id: 'w', types, agentIds: null, tenantIds: null, sources: null, enabled: true }
  const reads: (() => void)[] = []
  const list = async () => {
    await new Promise<void>((resolve) => reads.push(resolve))
    return [webhook as unknown as Webhook]
  }
  const destinations = openDestinations({ list, get: async () => null }, { environment: {} })
  const reading = destinations.of(execution, 'execution.succeeded')
  await destinations.refresh({ organizationId: execution.organizationId, id: 'w' })
  reads[0]?.()
  // None would lose the event: the execution would not be marked, or its events would count as handled.
  expect(await reading).toMatchObject([{ id: 'w' }])
})
