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

  it('reports nothing if every record was processed', async () => {
    expect(await processRecords(event(ten), async () => undefined)).toEqual({ batchItemFailures: [] })
  })
})
