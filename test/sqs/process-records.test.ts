import type { SQSEvent } from 'aws-lambda'
import { describe, expect, it } from 'vitest'
import { processRecords } from '../../lib/sqs/process-records.ts'

const event = (bodies: string[]) =>
  ({ Records: bodies.map((body) => ({ messageId: `id of ${body}`, body })) }) as SQSEvent

describe('processRecords', () => {
  const ten = Array.from({ length: 10 }, (_, index) => String(index))

  it('reports the one record of a batch that failed, after it has processed the others', async () => {
    const processed: string[] = []
    const response = await processRecords(event(ten), async ({ body }) => {
      if (body === '3') throw new Error('Retry.')
      await new Promise((resolve) => setImmediate(resolve))
      processed.push(body)
    })
    expect(response).toEqual({ batchItemFailures: [{ itemIdentifier: 'id of 3' }] })
    expect(processed).toEqual(ten.filter((body) => body !== '3'))
  })

  it('removes the messages that were processed while others are not, and not those that failed', async () => {
    const removed: string[] = []
    const last = Promise.withResolvers<void>()
    const processing = processRecords(
      event(ten),
      async ({ body }) => {
        if (body === '3') throw new Error('Retry.')
        if (body === '9') await last.promise
      },
      async ({ body }) => {
        removed.push(body)
        if (removed.length === 8) last.resolve()
      },
    )
    expect(await processing).toEqual({ batchItemFailures: [{ itemIdentifier: 'id of 3' }] })
    expect(removed).toEqual(ten.filter((body) => body !== '3' && body !== '9'))
  })

  it('reports no record whose message could not be removed', async () => {
    const last = Promise.withResolvers<void>()
    const response = await processRecords(
      event(ten),
      ({ body }) => (body === '9' ? last.promise : Promise.resolve()),
      async ({ body }) => {
        if (body === '8') last.resolve()
        throw new Error('Access denied.')
      },
    )
    expect(response).toEqual({ batchItemFailures: [] })
  })

  it('leaves a single message to Lambda', async () => {
    const remove = async () => {
      throw new Error('removed')
    }
    expect(await processRecords(event(['0']), async () => undefined, remove)).toEqual({
      batchItemFailures: [],
    })
  })

  it('reports nothing if every record was processed', async () => {
    expect(await processRecords(event(ten), async () => undefined)).toEqual({ batchItemFailures: [] })
  })
})
