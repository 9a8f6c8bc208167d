import { beforeAll, expect, inject, it, onTestFinished } from 'vitest'
import { Client } from '../../../clients/typescript/src/index.ts'
import { newOrganization, type TestOrganization } from '../../support/engine/organization.ts'
import { collect } from './collect.ts'
import { startCuttingProxy } from './cutting-proxy.ts'

const STEPS = 100
/** At most. */
const CUTS = 40

let org: TestOrganization
beforeAll(async () => {
  org = await newOrganization()
  await org.publish('marked-steps')
  await org.publish('echo')
})

it.each([1, 2, 3])(
  'stream() through a connection that is cut anywhere has each event once (seed %i)',
  async (seed) => {
    const proxy = await startCuttingProxy(inject('service'), { seed, limit: CUTS })
    onTestFinished(proxy.stop)
    const client = new Client({ baseUrl: proxy.url, token: org.token })
    const input = { marker: `${seed}`, number: 1, steps: STEPS, pauseMs: 20, log: '/dev/null' }
    const events = await collect(client.stream('marked-steps', input, { tenantId: `${seed}` }))
    const steps = events.flatMap(({ event, data }) => (event === 'step' ? [data.number] : []))
    expect(steps).toEqual(Array.from({ length: STEPS }, (_, index) => index + 1))
    expect(events.map(({ event }) => event).filter((event) => event !== 'step')).toEqual([
      'status',
      'status',
      'done',
    ])
    expect(proxy.cuts()).toBeGreaterThan(CUTS / 2)
    const direct = new Client({ baseUrl: inject('service'), token: org.token })
    expect(await collect(direct.executions({ tenantId: `${seed}` }))).toHaveLength(1)
  },
)

it('batch() through a connection that is cut anywhere starts one batch, and has each result once', async () => {
  const proxy = await startCuttingProxy(inject('service'), { seed: 4, limit: 15 })
  onTestFinished(proxy.stop)
  const client = new Client({ baseUrl: proxy.url, token: org.token })
  const texts = Array.from({ length: 40 }, (_, index) => `text ${index}`)
  const inputs = texts.map((text) => ({ text }))
  const results = await collect(client.batch('echo', inputs, { tenantId: 'batch', maxConcurrency: 10 }))
  expect(results.map(({ customId, output }) => [customId, output?.text])).toEqual(
    texts.map((text, index) => [String(index), text]),
  )
  expect(proxy.cuts()).toBeGreaterThan(5)
  const direct = new Client({ baseUrl: inject('service'), token: org.token })
  expect(await collect(direct.batches({ tenantId: 'batch' }))).toMatchObject([{ lines: 40, status: 'ENDED' }])
  expect(await collect(direct.executions({ tenantId: 'batch', fields: 'summary' }))).toHaveLength(40)
})
