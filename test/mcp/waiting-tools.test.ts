import { beforeAll, describe, expect, it } from 'vitest'
import { describeWaits } from '../../lib/mcp/describe-waits.ts'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { waitForExecution } from '../support/service/client.ts'
import { modernRequest, parseMessages } from './messages.ts'

let org: TestOrganization
beforeAll(async () => {
  org = await newOrganization()
  await org.publish('waits')
  await org.publish('asks')
})

async function callTool(name: string, input: object, client = org.call) {
  const params = { name, arguments: input }
  const { text } = await client('POST', '/v1/mcp', modernRequest('tools/call', params))
  return parseMessages(text).at(-1).result
}

const waiting = async (): Promise<string> =>
  (await callTool('waits', { signal: 'go' })).structuredContent.executionId

describe('send_signal', () => {
  it.each([
    ['an object', { a: [1, { b: null }] }],
    ['a text', 'x'],
    ['null', null],
  ])('resumes the run, which gets %s', async (_, data) => {
    const executionId = await waiting()
    const { structuredContent } = await callTool('send_signal', { executionId, name: 'go', data })
    expect(structuredContent).toEqual({ executionId, id: expect.any(String) })
    const { output } = await waitForExecution(org.call, executionId)
    expect(output).toEqual({ data: JSON.stringify(data) })
  })

  it('sends one signal for one idempotency key', async () => {
    const executionId = await waiting()
    const send = (name: string, data: number) =>
      callTool('send_signal', { executionId, name, data, idempotencyKey: 'k' })
    const [first, second] = [await send('later', 1), await send('later', 1)]
    expect(second.structuredContent).toEqual(first.structuredContent)
    expect(await send('later', 2)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('Idempotency-Key') }],
    })
  })

  it.each([
    ['no name', { data: 1 }, '/name'],
    ['no data', { name: 'go' }, '/data'],
    ['an invalid name', { name: 'a b\n', data: 1 }, 'name'],
    ['an invalid idempotency key', { name: 'go', data: 1, idempotencyKey: '\n' }, 'idempotencyKey'],
    ['more than 256 kB', { name: 'go', data: 'x'.repeat(5_000_000) }, '256000'],
  ])('rejects %s', async (_, input, text) => {
    const executionId = await waiting()
    expect(await callTool('send_signal', { executionId, ...input })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining(text) }],
    })
    expect((await org.getExecution(executionId)).waitingFor).toHaveLength(1)
  })

  it('says that a run has ended', async () => {
    const executionId = await waiting()
    await callTool('cancel_execution', { executionId })
    expect(await callTool('send_signal', { executionId, name: 'go', data: 1 })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('has ended') }],
    })
  })
})

describe('decide_approval', () => {
  const asking = async () => {
    const { structuredContent, content } = await callTool('asks', {})
    const [{ id: approvalId }] = structuredContent.waitingFor
    return { executionId: structuredContent.executionId, approvalId, text: content[0].text }
  }

  it('is what the result of a run that waits for an approval names', async () => {
    const { text, approvalId } = await asking()
    expect(text).toContain(`a decision on the approval ${approvalId} of refund (until `)
    expect(text).toContain(
      'A person decides; a token with the scope approve reports that with decide_approval.',
    )
  })

  it('decides once, with a note and another input', async () => {
    const { text: _, ...ids } = await asking()
    const given = { ...ids, decision: 'approve', note: 'less', input: { usd: 100 } }
    const { structuredContent } = await callTool('decide_approval', given)
    expect(structuredContent).toMatchObject({
      id: ids.approvalId,
      executionId: ids.executionId,
      decision: 'approve',
      note: 'less',
      input: { usd: 100 },
      by: expect.any(String),
    })
    expect((await callTool('decide_approval', given)).structuredContent).toEqual(structuredContent)
    expect((await waitForExecution(org.call, ids.executionId)).output).toEqual({
      decision: 'approve',
      usd: 100,
    })
    expect(await callTool('decide_approval', { ...ids, decision: 'reject' })).toMatchObject({
      isError: true,
      content: [{ text: 'Another decision on this approval is stored: approve.' }],
    })
    const { json: entries, text } = await org.call('GET', `/v1/audit?target=${ids.executionId}`)
    const target = { kind: 'approval', id: ids.approvalId, executionId: ids.executionId }
    const common = { action: 'approval.decide', target, source: { interface: 'MCP', ip: '127.0.0.1' } }
    expect(entries).toMatchObject([
      {
        ...common,
        changes: { decision: 'reject', isEdited: false },
        result: 'FAILED',
        error: 'ApprovalDecided',
      },
      { ...common, changes: { decision: 'approve', isEdited: true }, result: 'SUCCEEDED' },
      { ...common, changes: { decision: 'approve', isEdited: true }, result: 'SUCCEEDED' },
    ])
    expect(text).not.toMatch(/less|usd/)
  })

  it.each([
    ['no decision', { decision: undefined }, '/decision'],
    ['another decision', { decision: 'timeout' }, '/decision'],
    ['an unknown field', { reason: 'x' }, '/reason'],
    ['a note that is too long', { note: 'x'.repeat(2_001) }, '/note'],
    ['a note with half of a surrogate pair', { note: '\ud800' }, '/note'],
    ['an input with a rejection', { decision: 'reject', input: {} }, '/input'],
    ['5 MB', { input: { usd: 'x'.repeat(5_000_000) } }, '/input'],
    ['an unknown approval', { approvalId: 'x' }, 'no approval with this ID'],
  ])('rejects %s', async (_, input, text) => {
    const { executionId, approvalId } = await asking()
    const given = { executionId, approvalId, decision: 'approve', ...input }
    expect(await callTool('decide_approval', given)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining(text) }],
    })
    expect((await org.getExecution(executionId)).waitingFor).toHaveLength(1)
  })
})

it('says of a run that waits for another one how to learn what that waits for', () => {
  const wait = { kind: 'execution' as const, name: 'delegate', since: '', until: null, id: '01a2', step: 1 }
  expect(describeWaits([wait])).toBe(
    'The run waits for the execution 01a2 of the tool delegate. get_execution with that id shows what it waits for.',
  )
})
