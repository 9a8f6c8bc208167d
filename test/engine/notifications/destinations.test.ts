import { expect, it } from 'vitest'
import type { Webhook } from '../../../lib/core/notification.ts'
import { openDestinations } from '../../../lib/engine/notifications/destinations.ts'
import { anExecution } from '../../support/engine/executions.ts'

it('waits for the webhooks of an organization that are forgotten while they are read', async () => {
  const execution = anExecution()
  const types = ['execution.succeeded']
  const webhook = { id: 'w', types, agentIds: null, tenantIds: null, sources: null, enabled: true }
  const reads: (() => void)[] = []
  const list = async () => {
    await new Promise<void>((resolve) => reads.push(resolve))
    return [webhook as unknown as Webhook]
  }
  const destinations = openDestinations({ list }, { environment: {} })
  const reading = destinations.of(execution, 'execution.succeeded')
  destinations.forget(execution.organizationId)
  reads[0]?.()
  // None would lose the event: the execution would not be marked, or its events would count as handled.
  expect(await reading).toMatchObject([{ id: 'w' }])
})
