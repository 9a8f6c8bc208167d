import { beforeAll, describe, expect, it } from 'vitest'
import { waitHeaders } from '../../lib/api/parameters/wait-headers.ts'
import { system } from '../../lib/system.ts'
import { newOrganization, type TestOrganization } from '../support/organization.ts'

let own: TestOrganization

beforeAll(async () => {
  own = await newOrganization()
  await own.publish('wait')
})

const started = async (seconds: number): Promise<string> => {
  const { json } = await own.call('POST', '/v1/agents/wait/executions?execMode=async', { body: { seconds } })
  return json.id
}
const read = (id: string, prefer: string) =>
  own.call('GET', `/v1/agent_executions/${id}`, { headers: { Prefer: prefer } })

describe.concurrent('GET an execution with Prefer: wait=N', () => {
  it('answers when it has ended', async () => {
    const { status, json, headers } = await read(await started(1), 'wait=20')
    expect([status, json.status]).toEqual([200, 'SUCCESS'])
    expect(json.output.waitedSeconds).toBeGreaterThan(0)
    expect(headers.get('preference-applied')).toBe('wait=20')
  })

  it('answers after N seconds with what there is', async () => {
    const id = await started(60)
    const startedAt = performance.now()
    const { json, headers } = await read(id, 'wait=1')
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(1_000)
    expect([json.status, headers.get('retry-after')]).toEqual(['IN_PROGRESS', '1'])
    await own.call('POST', `/v1/agent_executions/${id}/cancel`)
  })

  it('answers at once for one that has ended, and for none', async () => {
    const id = await started(0)
    await read(id, 'wait=20')
    expect((await read(id, 'wait=20')).json.status).toBe('SUCCESS')
    expect((await read(system.newId(), 'wait=20')).status).toBe(404)
  })

  it('waits for nobody else’s execution', async () => {
    const other = await newOrganization()
    const id = await started(30)
    const { status } = await other.call('GET', `/v1/agent_executions/${id}`, {
      headers: { Prefer: 'wait=20' },
    })
    expect(status).toBe(404)
    await own.call('POST', `/v1/agent_executions/${id}/cancel`)
  })
})

describe('the preference', () => {
  it.each([
    ['wait=7', 7],
    ['respond-async, wait=7', 7],
    ['wait = "7"; foo=1', 7],
    ['WAIT=7', 7],
    ['wait=7, wait=3', 7],
    ['wait=26', 25],
    ['wait=999999999', 25],
    ['wait=0', 0],
    ['foo; wait=7', 0],
    ['wait=-1', 0],
    ['wait=1.5', 0],
    ['wait', 0],
    ['wait=9999999999', 0],
    ['waiting=7', 0],
    ['', 0],
  ])('%s is %i seconds', (prefer, seconds) => {
    expect(waitHeaders.parse({ Prefer: prefer })).toEqual({ Prefer: seconds })
  })
})
