import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { agentStore } from '../../lib/dynamodb/agent-store.ts'
import { system } from '../../lib/system.ts'
import { newOrganization, sharedTable, type TestOrganization } from '../support/engine/organization.ts'
import { type ApiResponse, getExecutionId, waitForExecution } from '../support/service/client.ts'

const folder = mkdtempSync(join(tmpdir(), 'aes-cache-'))
/** For an entry with a TTL of one second. */
const WAIT = { timeout: 10_000, interval: 100 }
let org: TestOrganization

beforeAll(async () => {
  org = await newOrganization()
  await org.publish('counted')
})
afterAll(() => rmSync(folder, { recursive: true }))

type Input = { log: string; ms?: number; failures?: number; size?: number }
const createInput = (more: Omit<Input, 'log'> = {}): Input => ({ log: join(folder, system.newId()), ...more })
const countRuns = ({ log }: Input) =>
  existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').length : 0
const run = (input: Input, query = 'useCache=true', by = org) => by.run('counted', input, query)
const recordOf = (response: ApiResponse) => org.getExecution(getExecutionId(response))

describe.concurrent('a run with useCache', () => {
  it('reuses the result of an earlier run in a new execution', async () => {
    const input = createInput()
    const first = await run(input)
    expect(first.headers.get('cache-status')).toBe('agent-execution-service; fwd=miss; stored')
    expect(first.headers.has('x-cached-document-execution-id')).toBe(false)
    const second = await run(input)
    expect([second.status, second.json]).toEqual([200, first.json])
    expect(second.headers.get('cache-status')).toBe('agent-execution-service; hit')
    expect(second.headers.get('x-cached-document-execution-id')).toBe(getExecutionId(first))
    expect(getExecutionId(second)).not.toBe(getExecutionId(first))
    expect(await recordOf(second)).toMatchObject({
      id: getExecutionId(second),
      status: 'SUCCESS',
      input,
      output: first.json,
      cached: true,
      cachedDocumentExecutionId: getExecutionId(first),
      steps: 0,
    })
    expect(await recordOf(first)).not.toHaveProperty('cachedDocumentExecutionId')
    expect(countRuns(input)).toBe(1)
  })

  it('is final at once on a hit if it is asynchronous', async () => {
    const input = createInput()
    const first = await run(input)
    expect([first.status, first.json]).toEqual([200, { run: 1, text: 'x' }])
    const second = await run(input, 'useCache=true&execMode=async')
    expect([second.status, second.json.status, second.json.output]).toEqual([200, 'SUCCESS', first.json])
    expect(second.json).toMatchObject({ cached: true, cachedDocumentExecutionId: getExecutionId(first) })
  })

  const concurrent = 50
  it.each(['useCache=true&execMode=sync', 'useCache=true&execMode=async'])(
    `executes once for ${concurrent} concurrent requests; the others are hits (%s)`,
    async (query) => {
      const input = createInput({ ms: 1_500 })
      const responses = await Promise.all(Array.from({ length: concurrent }, () => run(input, query)))
      const records = await Promise.all(
        responses.map((response) => waitForExecution(org.call, getExecutionId(response), 60_000)),
      )
      expect(countRuns(input)).toBe(1)
      const originals = records.filter(({ cached }) => !cached)
      expect(originals).toHaveLength(1)
      for (const record of records.filter(({ cached }) => cached)) {
        expect(record).toMatchObject({
          status: 'SUCCESS',
          output: originals[0].output,
          cachedDocumentExecutionId: originals[0].id,
        })
      }
    },
    90_000,
  )

  it('executes if the run that it waited for fails; failures are not cached', async () => {
    const input = createInput({ ms: 500, failures: 1 })
    const responses = await Promise.all(Array.from({ length: 10 }, () => run(input)))
    expect(responses.filter(({ status }) => status === 500)).toHaveLength(1)
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(9)
    const before = countRuns(input)
    expect((await run(input)).headers.get('cache-status')).toBe('agent-execution-service; hit')
    expect(countRuns(input)).toBe(before)
  })

  it('executes if the previous run failed', async () => {
    const input = createInput({ failures: 1 })
    expect((await run(input)).status).toBe(500)
    const second = await run(input)
    expect([second.status, second.json.run]).toEqual([200, 2])
    expect((await run(input)).json.run).toBe(2)
  })

  it('reuses an output that does not fit a table item', async () => {
    const input = createInput({ size: 2_000_000 })
    const first = await run(input)
    const second = await run(input)
    expect(second.json.text.length).toBe(2_000_000)
    await org.call('DELETE', `/v1/agent_executions/${getExecutionId(first)}`)
    expect((await recordOf(second)).output.text.length).toBe(2_000_000)
  })

  it('ignores the order of the input fields', async () => {
    const input = createInput({ ms: 0, size: 3 })
    const first = await run(input)
    const second = await run(Object.fromEntries(Object.entries(input).reverse()) as Input)
    expect(second.headers.get('x-cached-document-execution-id')).toBe(getExecutionId(first))
  })

  it.each([
    ['has another tenant', 'useCache=true&tenantId=acme'],
    ['has learning switched on', 'useCache=true&useDynamicLearning=true'],
    ['does not use the cache', 'execMode=sync'],
    ['switches the cache off', 'useCache=false'],
  ])('does not share its result with a run that %s', async (_, query) => {
    const input = createInput()
    await run(input)
    expect((await run(input, query)).json.run).toBe(2)
  })

  it('does not share its result with another organization', async () => {
    const other = await newOrganization()
    await other.publish('counted')
    const input = createInput()
    await run(input)
    expect((await run(input, 'useCache=true', other)).json.run).toBe(2)
  })

  it('executes again once the original execution is deleted; deleting a hit has no effect', async () => {
    const input = createInput()
    const first = await run(input)
    const hit = await run(input)
    expect((await org.call('DELETE', `/v1/agent_executions/${getExecutionId(hit)}`)).status).toBe(204)
    expect((await run(input)).json.run).toBe(1)
    expect((await org.call('DELETE', `/v1/agent_executions/${getExecutionId(first)}`)).status).toBe(204)
    expect((await run(input)).json.run).toBe(2)
  })

  it('executes if its input has no canonical form', async () => {
    const { log } = createInput()
    const raw = JSON.stringify({ log, odd: '\ud800' })
    for (const count of [1, 2]) {
      const response = await org.call('POST', '/v1/agents/counted/executions?useCache=true', { raw })
      expect([response.json.run, response.headers.get('cache-status')]).toEqual([count, null])
    }
  })
})

describe('a version with useCache', () => {
  it('caches for its TTL unless the request overrides it; a new version has its own entries', async () => {
    const by = await newOrganization()
    const version = await by.publish('counted')
    const publish = async (ttl: number) => {
      const execution = { ...version.execution, useCache: true, cacheTtlSeconds: ttl }
      const code = await agentStore(sharedTable()).getCode({
        agentId: version.agentId,
        versionId: version.id,
      })
      const next = { ...version, id: system.newId(), execution }
      await agentStore(sharedTable()).publish({ version: next, code })
    }
    await publish(3_600)
    const input = createInput()
    const first = await run(input, '', by)
    expect(first.json.run).toBe(1)
    expect((await run(input, '', by)).json.run).toBe(1)
    expect((await run(input, 'useCache=false', by)).json.run).toBe(2)
    await publish(1)
    // Another process published: this one runs the previous version for at most a second.
    await vi.waitFor(async () => expect((await run(input, '', by)).json.run).toBe(3))
    await vi.waitFor(async () => expect((await run(input, '', by)).json.run).toBe(4), WAIT)
  })
})
