import { describe, expect, it } from 'vitest'
import type { QueuedExecution } from '../../../lib/core/ports/queues.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { submitAsync } from '../../../lib/engine/submit/accept.ts'
import { engineOn } from '../../support/engine/engine-on.ts'
import { runOptions } from '../../support/engine/executions.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { newOrganization, sharedTable } from '../../support/engine/organization.ts'

const table = sharedTable()
const { id: organizationId, publish } = await newOrganization(table)

const http = { method: 'GET', url: 'https://shop.example/orders' }
const withTools = (...tools: object[]) =>
  aModelAgent({ organizationId, slug: `agent-${tools.length}`, tools })

describe('an asynchronous run', () => {
  it.each([
    ['a model agent', true, () => withTools()],
    [
      'a model agent with a tool',
      true,
      () => withTools({ name: 'orders', description: 'Orders.', input: {}, http }),
    ],
    ['a model agent that calls another agent', false, () => withTools({ name: 'echo', agent: 'echo' })],
    ['a code agent', false, () => publish('echo')],
  ])('of %s shares its worker: %j', async (_, sharesWorker, create) => {
    const version = await create()
    const sent: QueuedExecution[] = []
    const engine = {
      ...engineOn(table),
      idempotency: openStores(table).idempotency,
      queue: { send: async (message: QueuedExecution) => void sent.push(message) },
      admit: <T>(_: string, record: () => Promise<T>) => record(),
      syncDeadlineMs: 0,
    }
    const input = { text: 'x', question: 'Why?' }
    const { id } = await submitAsync(engine, { version, input, tenantId: null, options: runOptions() })
    expect(sent).toMatchObject([{ executionId: id, sharesWorker }])
    expect(await engine.executions.get({ organizationId, id })).toMatchObject({ sharesWorker })
  })
})
