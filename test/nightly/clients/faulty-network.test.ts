import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { Client } from '../../../clients/typescript/src/index.ts'
import { collect } from '../../clients/typescript/collect.ts'
import { newOrganization, type TestOrganization } from '../../support/engine/organization.ts'
import { SCHEDULED, scheduledFaults } from '../../support/proxy/fault-schedule.ts'
import { type HttpProxy, startProxy } from '../../support/proxy/start-proxy.ts'

const RUNS = 1_000
const CONCURRENT = 20
/** Share of the requests with a fault. */
const RATE = 0.4

/** So many of the runs take long enough for a repeated request to find them in progress. */
const SLOW_RUNS = RUNS / 10

type Agents = {
  echo: { input: { text: string }; output: { text: string } }
  wait: { input: { seconds: number }; output: { waitedSeconds: number } }
}

const scheduled = scheduledFaults({ target: 'service', seed: 1, rate: RATE })
let org: TestOrganization
let proxy: HttpProxy
beforeAll(async () => {
  org = await newOrganization()
  for (const slug of ['echo', 'wait']) await org.publish(slug)
  proxy = await startProxy(inject('service'), scheduled.behavior)
})
afterAll(() => proxy.stop())

it(
  `${RUNS} calls of run() through a network that delays, drops, duplicates, throttles and cuts are ${RUNS} executions`,
  async () => {
    const client = new Client<Agents>({ baseUrl: proxy.url, token: org.token })
    const numbers = Array.from({ length: RUNS }, (_, number) => number)
    const isSlow = (number: number) => number % (RUNS / SLOW_RUNS) === 0
    const run = async (number: number) => {
      if (!isSlow(number))
        return expect(await client.run('echo', { text: `${number}` })).toEqual({ text: `${number}` })
      const seconds = 0.5 + number / 1_000_000
      expect((await client.run('wait', { seconds })).waitedSeconds).toBeGreaterThan(0.4)
    }
    const waiting = [...numbers]
    const worker = async () => {
      for (let number = waiting.pop(); number !== undefined; number = waiting.pop()) await run(number)
    }
    await Promise.all(Array.from({ length: CONCURRENT }, worker))

    const direct = new Client<Agents>({ baseUrl: inject('service'), token: org.token })
    const echoed = await collect(direct.executions({ agent: 'echo', limit: 100 }))
    const waited = await collect(direct.executions({ agent: 'wait', limit: 100 }))
    expect([echoed.length, waited.length]).toEqual([RUNS - SLOW_RUNS, SLOW_RUNS])
    const texts = numbers.filter((number) => !isSlow(number)).map(String)
    expect(new Set(echoed.map(({ input }) => input.text))).toEqual(new Set(texts))
    expect(new Set(waited.map(({ input }) => input.seconds)).size).toBe(SLOW_RUNS)
    for (const { status } of [...echoed, ...waited]) expect(status).toBe('SUCCESS')

    // Each kind of fault has happened to many of the requests.
    const { requests, operations, failed } = proxy.counts
    expect(requests).toBeGreaterThan(RUNS / (1 - RATE / 2))
    for (const fault of SCHEDULED)
      expect(scheduled.counts[fault]).toBeGreaterThan(RUNS * (RATE / SCHEDULED.length) * 0.5)
    expect(failed).toBe(0)
    // Runs whose repeated request found them in progress.
    expect(operations.GET).toBeGreaterThan(SLOW_RUNS / 10)
  },
  10 * 60_000,
)
