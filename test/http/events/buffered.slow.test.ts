import type { APIGatewayProxyResult } from 'aws-lambda'
import { beforeAll, describe, expect, it } from 'vitest'
import type { OperationName } from '../../../lib/contract/routes.ts'
import { toGatewayEvent } from '../../fixtures/captured-events.ts'
import { newOrganization, type TestOrganization } from '../../support/engine/organization.ts'
import { parseEvent } from '../../support/service/event-stream.ts'
import { localHandlers } from '../../support/service/local-handlers.ts'

// Without RESPONSE_STREAMING, as with the setting responseStreaming=false.
const handlers = localHandlers()

let org: TestOrganization
beforeAll(async () => {
  org = await newOrganization()
  await org.publish('three-steps')
  await org.publish('wait')
})

async function invoke(name: OperationName, headers: Record<string, string>, options: object) {
  const event = toGatewayEvent(name, { organizationId: org.id, headers, ...options })
  const result = (await handlers[name](event, {})) as APIGatewayProxyResult
  const events = result.body.split('\n\n').slice(0, -1).map(parseEvent)
  return { ...result, names: events.map(({ event, id }) => (id ? `${event} ${id}` : event)) }
}

describe('without response streaming', () => {
  it('the events so far are one response, after which the client reconnects', async () => {
    const { headers } = await org.run('three-steps', { log: '/dev/null' })
    const executionId = headers.get('x-execution-id') ?? ''
    const read = (lastEventId: string) =>
      invoke('stream-events', { 'Last-Event-ID': lastEventId }, { executionId })
    const first = await read('1')
    expect(first).toMatchObject({ statusCode: 200, headers: { 'Content-Type': 'text/event-stream' } })
    expect(first.names).toEqual(['status', 'step 2', 'step 3', 'retry'])
    expect((await read('3')).names).toEqual(['status', 'done'])
  })

  it('the response waits for news', async () => {
    const { json } = await org.run('wait', { seconds: 1 }, 'execMode=async')
    const { names } = await invoke('stream-events', {}, { executionId: json.id })
    expect(names).toEqual(['status', 'status', 'done'])
  })

  it('the events of a run are one response when it ends', async () => {
    const headers = { Accept: 'text/event-stream' }
    const options = { agentId: 'three-steps', body: { log: '/dev/null' } }
    const { names, headers: sent } = await invoke('run-agent', headers, options)
    expect(names.filter((name) => name !== 'status')).toEqual(['step 1', 'step 2', 'step 3', 'done'])
    expect(sent?.['X-Execution-Id']).toBeTruthy()
  })
})
