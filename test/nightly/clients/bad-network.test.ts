import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { Client } from '../../../clients/typescript/src/index.ts'
import { readSeed } from '../../support/data/seed.ts'
import { newOrganization, type TestOrganization } from '../../support/engine/organization.ts'
import { hasPython, packagePython } from '../../support/processes/python-environment.ts'
import { scheduledFaults } from '../../support/proxy/faults.ts'
import { startProxy } from '../../support/proxy/start-proxy.ts'

const RUNS = 300
const STREAMS = 20
const COMPLETE = ['step', 'step', 'step', 'done']

const isInstalled = await hasPython()

describe('300 runs through a bad network are 300 executions', () => {
  let org: TestOrganization
  beforeAll(async () => {
    org = await newOrganization()
    for (const slug of ['echo', 'three-steps']) await org.publish(slug)
  })

  /** The executions that the service has, without the bad network. */
  async function countExecutions(agent: string): Promise<number> {
    const client = new Client({ baseUrl: inject('service'), token: org.token })
    let count = 0
    for await (const { status } of client.executions({ agent, limit: 100 })) {
      expect(status).toBe('SUCCESS')
      count++
    }
    return count
  }

  /** Half of all requests are dropped, repeated, delayed, refused or cut. */
  async function badNetwork() {
    const { behavior, counts } = scheduledFaults({ target: 'service', seed: readSeed(), rate: 0.5 })
    const proxy = await startProxy(inject('service'), behavior)
    onTestFinished(() => proxy.stop())
    return { url: proxy.url, faults: counts }
  }

  it('in TypeScript', async () => {
    const { url, faults } = await badNetwork()
    const client = new Client({ baseUrl: url, token: org.token })
    const run = (n: number) => client.run('echo', { text: `${n}` })
    const all: object[] = []
    for (let start = 0; start < RUNS; start += 30)
      all.push(...(await Promise.all(Array.from({ length: 30 }, (_, n) => run(start + n)))))
    expect(all).toEqual(Array.from({ length: RUNS }, (_, n) => ({ text: `${n}` })))
    for (let n = 0; n < STREAMS; n++) {
      const names: string[] = []
      for await (const { event } of client.stream('three-steps', { log: '/dev/null' })) names.push(event)
      expect(names.filter((name) => name === 'step' || name === 'done')).toEqual(COMPLETE)
    }
    expect(await countExecutions('echo')).toBe(RUNS)
    expect(await countExecutions('three-steps')).toBe(STREAMS)
    console.log('faults:', faults)
  })

  it.skipIf(!isInstalled)('in Python', async () => {
    const before = [await countExecutions('echo'), await countExecutions('three-steps')]
    const { url, faults } = await badNetwork()
    const { commandOf, environment } = await packagePython()
    const script = fileURLToPath(new URL('bad_network.py', import.meta.url))
    const env = { ...environment, BASE_URL: url, API_TOKEN: org.token }
    const { stdout } = await promisify(execFile)(commandOf('python'), [script], { env })
    expect(JSON.parse(stdout)).toEqual({ right: RUNS, streams: Array(STREAMS).fill(COMPLETE) })
    const after = [await countExecutions('echo'), await countExecutions('three-steps')]
    expect(after.map((count, index) => count - (before[index] ?? 0))).toEqual([RUNS, STREAMS])
    console.log('faults:', faults)
  })
})
