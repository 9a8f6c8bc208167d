import { describe, expect, inject, it, vi } from 'vitest'
import type { RateStore } from '../../../lib/core/ports/access.ts'
import { limitOpenRequests } from '../../../lib/limits/open-requests.ts'
import { system } from '../../../lib/system.ts'
import { createToken } from '../../support/engine/access.ts'
import { newOrganization, sharedTable } from '../../support/engine/organization.ts'
import { openEventStream } from '../../support/service/event-stream.ts'

/** The limits of a token. */
const MAX_STREAMS = 20
const MAX_WAITS = 128

/** An organization with a run that ends when it is cancelled. */
async function setUp() {
  const org = await newOrganization()
  await org.publish('wait')
  const { id } = (await org.run('wait', { seconds: 600 }, 'execMode=async')).json
  const path = `/v1/agent_executions/${id}`
  const openStream = (token = org.token) => openEventStream(`${inject('service')}${path}/events`, { token })
  return {
    org,
    path,
    openStream,
    openStreams: (count: number) => Promise.all(Array.from({ length: count }, () => openStream())),
    cancel: () => org.call('POST', `${path}/cancel`),
  }
}

const statusesOf = (streams: { response: Response }[]) => [
  ...new Set(streams.map(({ response }) => response.status)),
]

describe('a token', () => {
  it(`holds ${MAX_STREAMS} event streams; another token is not affected`, async () => {
    const { org, openStream, openStreams, cancel } = await setUp()
    expect(statusesOf(await openStreams(MAX_STREAMS))).toEqual([200])
    const { response } = await openStream()
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '10'])
    expect(await response.json()).toMatchObject({
      code: 'TooManyRequests',
      detail: `This token has ${MAX_STREAMS} event streams at the same time, the maximum. Close one, or retry when one has ended.`,
    })
    expect((await openStream(await createToken(sharedTable(), org.id))).response.status).toBe(200)
    await cancel()
    await vi.waitFor(async () => expect((await openStream()).response.status).toBe(200))
  })

  it.each([
    ['sync', 'repeated requests for one run'],
    ['async', 'repeated requests for one run'],
    ['async', 'runs'],
  ])(`holds ${MAX_STREAMS} event streams of %s %s`, async (execMode, kind) => {
    const org = await newOrganization()
    await org.publish('wait')
    const openRun = (number: number) => {
      const key = kind === 'runs' ? `run ${number}` : 'one run'
      const url = `${inject('service')}/v1/agents/wait/executions?execMode=${execMode}`
      return openEventStream(url, {
        token: org.token,
        body: { seconds: 600 },
        headers: { 'Idempotency-Key': key },
      })
    }
    const first = await openRun(0)
    const streams = await Promise.all(
      Array.from({ length: MAX_STREAMS + 1 }, (_, number) => openRun(number + 1)),
    )
    const all = [first, ...streams]
    const refused = all.filter(({ response }) => response.status === 429)
    // The stream of a synchronous run counts as the run.
    expect(refused).toHaveLength(execMode === 'sync' ? 1 : 2)
    expect(await org.call('GET', '/v1/agent_executions')).toMatchObject({
      json: { length: kind === 'runs' ? MAX_STREAMS : 1 },
    })
    for (const { close } of all) close()
    await vi.waitFor(async () => {
      const { response, close } = await openRun(1)
      close()
      expect(response.status).toBe(200)
    })
    const { json } = await org.call('GET', '/v1/agent_executions?status=IN_PROGRESS')
    for (const { id } of json) await org.call('POST', `/v1/agent_executions/${id}/cancel`)
  })

  it(`waits with ${MAX_WAITS} requests at the same time; the next one is answered at once`, async () => {
    const { org, path, cancel } = await setUp()
    const wait = () => org.call('GET', path, { headers: { Prefer: 'wait=25' } })
    const responses = Promise.all(Array.from({ length: MAX_WAITS + 1 }, wait))
    await vi.waitFor(async () => {
      const { status, json, headers } = await org.call('GET', path, { headers: { Prefer: 'wait=1' } })
      expect([status, json.status, headers.get('retry-after')]).toEqual([200, 'IN_PROGRESS', '10'])
      expect(headers.get('preference-applied')).toBeNull()
    })
    expect(Number((await org.call('GET', path)).headers.get('retry-after'))).toBeLessThan(10)
    await cancel()
    const statuses = (await responses).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(MAX_WAITS - 1)
    expect((await wait()).status).toBe(200)
  })
})

describe('limitOpenRequests, without a limit of the stack', () => {
  const newAccess = (organizationId = system.newId()) => ({ organizationId, tokenId: system.newId() })
  const noRates = {} as RateStore
  const { hold } = limitOpenRequests('stream-events', noRates, {})

  it('limits the streams of all tokens of an organization together, and not those of another', async () => {
    const access = newAccess()
    const open = () => hold('stream', newAccess(access.organizationId))
    const held = await Promise.all(Array.from({ length: 200 }, open))
    await expect(open()).rejects.toThrow(
      'Your organization has 200 event streams at the same time, the maximum.',
    )
    for (const other of [hold('stream', newAccess()), hold('wait', newAccess(access.organizationId))])
      (await other).release()
    held[0]?.release()
    held[0]?.release()
    await open()
    await expect(open()).rejects.toThrow()
  })
})
