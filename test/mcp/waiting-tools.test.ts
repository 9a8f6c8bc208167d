import { describe, expect, it } from 'vitest'
import { describeWaits } from '../../lib/mcp/describe-waits.ts'
import { waitForExecution } from '../support/service/client.ts'
import { organizationWith } from '../support/service/organization-with.ts'
import { sendModern } from './messages.ts'

const org = await organizationWith('waits', 'asks')

const callTool = async (name: string, input: object) =>
  (await sendModern(org.call, 'tools/call', { name, arguments: input })).result

const waiting = async (): Promise<string> =>
  (await callTool('waits', { signal: 'go' })).structuredContent.executionId

describe('send_signal', () => {
  it.each([
    ['an object', { a: [1, { b: null }] }],
    ['a text', 'x'],
  ])('resumes the run, which gets %s', async (_, data) => {
    const executionId = await waiting()
    const { structuredContent } = await callTool('send_signal', { executionId, name: 'go', data })
    expect(structuredContent).toEqual({ executionId, id: expect.any(String) })
    const { output } = await waitForExecution(org.call, executionId)
    expect(output).toEqual({ data: JSON.stringify(data) })
  })

  it.each([
    ['no name', { data: 1 }, '/name'],
    ['an invalid name', { name: 'a b\n', data: 1 }, 'name'],
  ])('rejects %s', async (_, input, text) => {
    const executionId = await waiting()
    expect(await callTool('send_signal', { executionId, ...input })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining(text) }],
    })
    expect((await org.getExecution(executionId)).waitingFor).toHaveLength(1)
  })
})

describe('decide_approval', () => {
  const asking = async () => {
    const { structuredContent, content } = await callTool('asks', {})
    const [{ id: approvalId }] = structuredContent.waitingFor
    return { executionId: structuredContent.executionId, approvalId, text: content[0].text }
  }

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

  it('rejects an unknown approval', async () => {
    const { executionId } = await asking()
    const given = { executionId, approvalId: 'x', decision: 'approve' }
    expect(await callTool('decide_approval', given)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('no approval with this ID') }],
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
