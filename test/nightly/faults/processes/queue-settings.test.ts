import { describe, expect, it } from 'vitest'
import { batchProblems, withQueueTimeout } from './queue-settings.ts'

describe('batchProblems', () => {
  const batch = { invalid: 1, invalidFailed: 1, valid: 9, validFailed: 0 }
  const allFailed = { ...batch, validFailed: 9 }

  it('reports nothing when the failing records were reported alone', () => {
    expect(batchProblems([batch, { ...batch, validFailed: 2 }, allFailed, allFailed])).toEqual([])
    expect(batchProblems([{ ...batch, valid: 0 }])).toEqual([])
  })

  it('reports an invalid message that was taken for processed', () => {
    expect(batchProblems([batch, { ...batch, invalidFailed: 0 }])).toEqual([
      expect.stringContaining('not reported'),
    ])
  })

  it('reports batches that fail as a whole', () => {
    expect(batchProblems([allFailed, allFailed, allFailed])).toEqual([
      expect.stringContaining('In all 3 batches'),
    ])
  })
})

describe('withQueueTimeout', () => {
  const rewritten = (operation: string, request: object) => {
    const body = withQueueTimeout(3)({ operation, body: Buffer.from(JSON.stringify(request)), client: '' })
    return JSON.parse(body.toString())
  }

  it('hides the messages of the run queue for 15 leases, and changes nothing else', () => {
    const RedrivePolicy = '{}'
    expect(rewritten('CreateQueue', { Attributes: { VisibilityTimeout: '4', RedrivePolicy } })).toEqual({
      Attributes: { VisibilityTimeout: '45', RedrivePolicy },
    })
    expect(rewritten('CreateQueue', { QueueName: 'dead' })).toEqual({ QueueName: 'dead' })
    expect(rewritten('ChangeMessageVisibility', { VisibilityTimeout: 4 })).toEqual({ VisibilityTimeout: 4 })
  })
})
