import { describe, expect, inject, it } from 'vitest'
import { organizationWith } from '../support/service/organization-with.ts'
import { CLIENTS, type Progress } from './clients.ts'

const EXECUTION_TOOLS = [
  'get_execution',
  'cancel_execution',
  'list_executions',
  'decide_approval',
  'send_signal',
]

describe.each(CLIENTS)('the official client %s (%s)', (_name, version, connect) => {
  it('lists the tools of its organization', async () => {
    const { token, publish } = await organizationWith('echo', 'redact-pii')
    await publish('failing', { draft: true })
    const client = await connect(inject('service'), token)
    expect(client.version).toBe(version)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([...EXECUTION_TOOLS, 'redact-pii', 'echo'])
    expect(tools.at(-1)).toMatchObject({
      title: 'Echo',
      description: 'Returns its input.',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      outputSchema: { type: 'object', anyOf: [{ properties: { text: { type: 'string' } } }, {}] },
      annotations: { readOnlyHint: false },
    })
  })

  it('calls an agent and reads the execution', async () => {
    const { token } = await organizationWith('echo')
    const client = await connect(inject('service'), token)
    await client.listTools()
    const result = await client.callTool('echo', { text: 'hello' })
    expect(result.isError).toBeFalsy()
    expect(result.structuredContent).toEqual({ text: 'hello' })
    expect(result.content).toEqual([{ type: 'text', text: '{"text":"hello"}' }])
    const executionId = result._meta?.executionId as string
    const read = await client.callTool('get_execution', { executionId })
    expect(read.structuredContent).toMatchObject({ id: executionId, status: 'SUCCESS' })
    const listed = await client.callTool('list_executions', { agent: 'echo', status: 'SUCCESS' })
    expect(listed.structuredContent).toMatchObject({ executions: [{ id: executionId }] })
  })

  it('gets one progress notification per step', async () => {
    const { token } = await organizationWith('marked-steps')
    const client = await connect(inject('service'), token)
    const progress: Progress[] = []
    const input = { marker: 'm', number: 2, steps: 3, pauseMs: 0, log: '/dev/null' }
    await client.callTool('marked-steps', input, { onprogress: (event) => progress.push(event) })
    expect(progress.map((event) => event.progress)).toEqual([1, 2, 3])
  })
})
