import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { Client } from '../../../clients/typescript/src/index.ts'
import { FAULTS, type FaultProxy, startFaultProxy } from '../../faults/fault-proxy.ts'
import { newOrganization, type TestOrganization } from '../../support/organization.ts'
import { collect } from './collect.ts'

const RUNS = 1_000
const CONCURRENT = 20
/** Share of the requests with a fault. */
const RATE = 0.4

type Agents = { echo: { input: { text: string }; output: { text: string } } }

let org: TestOrganization
let proxy: FaultProxy
beforeAll(async () => {
  org = await newOrganization()
  await org.publish('echo')
  proxy = await startFaultProxy({ target: inject('service'), kind: 'service', seed: 1, rate: RATE })
})
afterAll(() => proxy.stop())

it(
  `${RUNS} calls of run() through a network that delays, drops, duplicates, throttles and cuts are ${RUNS} executions`,
  async () => {
    const client = new Client<Agents>({ baseUrl: proxy.url, token: org.token })
    const waiting = Array.from({ length: RUNS }, (_, number) => `run ${number}`)
    const expected = new Set(waiting)
    const worker = async () => {
      for (let text = waiting.pop(); text !== undefined; text = waiting.pop())
        expect(await client.run('echo', { text })).toEqual({ text })
    }
    await Promise.all(Array.from({ length: CONCURRENT }, worker))

    const direct = new Client<Agents>({ baseUrl: inject('service'), token: org.token })
    const executions = await collect(direct.executions({ limit: 100 }))
    expect(executions).toHaveLength(RUNS)
    expect(new Set(executions.map(({ input }) => input.text))).toEqual(expected)
    for (const { status, input, output } of executions)
      expect({ status, output }).toEqual({ status: 'SUCCESS', output: input })

    // Each kind of fault has happened to many of the requests.
    const { requests, faults, failed } = proxy.counts
    expect(requests).toBeGreaterThan(RUNS / (1 - RATE / 2))
    for (const fault of FAULTS) expect(faults[fault]).toBeGreaterThan(RUNS * (RATE / FAULTS.length) * 0.5)
    expect(failed).toBe(0)
  },
  10 * 60_000,
)
