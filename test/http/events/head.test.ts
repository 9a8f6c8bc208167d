import { beforeAll, describe, expect, it, vi } from 'vitest'
import { toGatewayEvent } from '../../fixtures/captured-events.ts'
import { newOrganization } from '../../support/engine/organization.ts'
import { localHandlers } from '../../support/service/local-handlers.ts'

/** The limit of a token. */
const MAX_STREAMS = 20

const { 'stream-events': handler } = localHandlers()
beforeAll(() => void vi.stubEnv('RESPONSE_STREAMING', 'local'))

describe('HEAD of an event stream', () => {
  it('leaves no stream open', async () => {
    const org = await newOrganization()
    await org.publish('wait')
    const { json } = await org.run('wait', { seconds: 600 }, 'execMode=async')
    const event = toGatewayEvent('stream-events', { organizationId: org.id, executionId: json.id })
    const send = async (httpMethod: string) =>
      (await handler({ ...event, httpMethod } as never, {})) as { statusCode: number; body: unknown }
    const statuses: number[] = []
    for (let count = 0; count <= MAX_STREAMS; count++) {
      const { statusCode, body } = await send('HEAD')
      expect(body).toBe('')
      statuses.push(statusCode)
    }
    expect(new Set(statuses)).toEqual(new Set([200]))
    await org.call('POST', `/v1/agent_executions/${json.id}/cancel`)
  })
})
