import { beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { batchBlockKey } from '../../../lib/dynamodb/table/keys.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { logger } from '../../../lib/logger.ts'
import { system } from '../../../lib/system.ts'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'
import { aBatch } from '../../support/batches/a-batch.ts'

const ids = { batchId: system.newId(), organizationId: system.newId() }
const firing = { organizationId: ids.organizationId, agentId: system.newId(), schedule: 'nightly', at: 1 }
const eventOf = (message: object) => ({
  Records: [
    {
      attributes: { ApproximateReceiveCount: '1' },
      messageId: 'a',
      receiptHandle: 'a',
      body: JSON.stringify(message),
      eventSourceARN: 'arn:aws:sqs:local:0:runs',
    },
  ],
})

describe('messages of the run queue that are about no execution', () => {
  beforeAll(() => {
    vi.stubEnv('TABLE_NAME', LOCAL_TABLE)
    vi.stubEnv('DYNAMODB_ENDPOINT', inject('dynamodb'))
    // Nothing listens there.
    vi.stubEnv('SQS_ENDPOINT', 'http://127.0.0.1:9')
    vi.stubEnv('QUEUE_URL', 'http://127.0.0.1:9/0/runs')
    vi.stubEnv('DELIVERY_QUEUE_URL', 'http://127.0.0.1:9/0/deliveries')
    vi.spyOn(logger, 'warn').mockReturnValue()
    vi.spyOn(logger, 'error').mockReturnValue()
  })

  it.each([ids, { ...ids, lane: 3 }, firing])(
    'are dropped as dead letters: their timers send others',
    async (message) => {
      const { handler } = await import('../../../functions/process-dead-letter.ts')
      expect(await handler(eventOf(message) as never)).toEqual({ batchItemFailures: [] })
    },
  )

  it.each([ids, { ...ids, lane: 3 }, firing])(
    'are done if there is no such batch or schedule',
    async (message) => {
      const { handler } = await import('../../../functions/process-execution.ts')
      expect(await handler(eventOf(message) as never)).toEqual({ batchItemFailures: [] })
    },
  )

  it('are delivered again if something fails', async () => {
    const { handler } = await import('../../../functions/process-execution.ts')
    const { batch, lines } = aBatch({ lines: 1 })
    await openStores().batches.create({ batch, lines })
    // Its line cannot be started, and no message can be sent that repeats that.
    await openTable().delete(batchBlockKey(batch.id, 0, 0))
    const message = { batchId: batch.id, organizationId: batch.organizationId }
    expect(await handler(eventOf(message) as never)).toEqual({ batchItemFailures: [{ itemIdentifier: 'a' }] })
  })
})
