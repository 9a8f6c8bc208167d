import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { agentStore } from '../../lib/dynamodb/agent-store.ts'
import { system } from '../../lib/system.ts'
import { until } from '../../local/until.ts'
import type { ApiResponse } from '../support/client.ts'
import { newOrganization, sharedTable, type TestOrganization } from '../support/organization.ts'
import { finalExecution } from '../support/poll.ts'

const folder = mkdtempSync(join(tmpdir(), 'aes-cache-'))
const RUN = '/v1/agents/counted/executions'
let own: TestOrganization

beforeAll(async () => {
  own = await newOrganization()
  await own.publish('counted')
})
afterAll(() => rmSync(folder, { recursive: true }))

type Input = { log: string; ms?: number; failures?: number; size?: number }
const anInput = (more: Omit<Input, 'log'> = {}): Input => ({ log: join(folder, system.newId()), ...more })
const runsOf = ({ log }: Input) => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').length : 0)
const ask = (body: Input, query = 'useCache=true', by = own) => by.call('POST', `${RUN}?${query}`, { body })
const idOf = ({ headers }: ApiResponse) => headers.get('x-execution-id')
const recordOf = async (answer: ApiResponse) =>
  (await own.call('GET', `/v1/agent_executions/${idOf(answer)}`)).json

describe.concurrent('a cached run', () => {
  it('takes the result of an earlier one over, in an execution of its own', async () => {
    const input = anInput()
    const first = await ask(input)
    expect(first.headers.get('cache-status')).toBe('agent-execution-service; fwd=miss; stored')
    expect(first.headers.has('x-cached-document-execution-id')).toBe(false)
    const second = await ask(input)
    expect([second.status, second.json]).toEqual([200, first.json])
    expect(second.headers.get('cache-status')).toBe('agent-execution-service; hit')
    expect(second.headers.get('x-cached-document-execution-id')).toBe(idOf(first))
    expect(idOf(second)).not.toBe(idOf(first))
    expect(await recordOf(second)).toMatchObject({
      id: idOf(second),
      status: 'SUCCESS',
      input,
      output: first.json,
      cached: true,
      cachedDocumentExecutionId: idOf(first),
      steps: 0,
    })
    expect(await recordOf(first)).not.toHaveProperty('cachedDocumentExecutionId')
    expect(runsOf(input)).toBe(1)
  })

  it('is final at once when it is async', async () => {
    const input = anInput()
    const first = await ask(input)
    const second = await ask(input, 'useCache=true&execMode=async')
    expect([second.status, second.json.status, second.json.output]).toEqual([200, 'SUCCESS', first.json])
    expect(second.json).toMatchObject({ cached: true, cachedDocumentExecutionId: idOf(first) })
  })

  it.each(['useCache=true&execMode=sync', 'useCache=true&execMode=async'])(
    'is one of 50 at the same time: one runs, 49 are hits (%s)',
    async (query) => {
      const input = anInput({ ms: 1_500 })
      const answers = await Promise.all(Array.from({ length: 50 }, () => ask(input, query)))
      const records = await Promise.all(
        answers.map((answer) => finalExecution(own.call, idOf(answer) ?? '', 60_000)),
      )
      expect(runsOf(input)).toBe(1)
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

  it('that waited for one that fails, runs; the failure is not kept', async () => {
    const input = anInput({ ms: 500, failures: 1 })
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(input)))
    expect(answers.filter(({ status }) => status === 500)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(9)
    const before = runsOf(input)
    expect((await ask(input)).headers.get('cache-status')).toBe('agent-execution-service; hit')
    expect(runsOf(input)).toBe(before)
  })

  it('that fails is run again by the next', async () => {
    const input = anInput({ failures: 1 })
    expect((await ask(input)).status).toBe(500)
    const second = await ask(input)
    expect([second.status, second.json.run]).toEqual([200, 2])
    expect((await ask(input)).json.run).toBe(2)
  })

  it('gives an output that does not fit an item', async () => {
    const input = anInput({ size: 2_000_000 })
    const first = await ask(input)
    const second = await ask(input)
    expect(second.json.text.length).toBe(2_000_000)
    await own.call('DELETE', `/v1/agent_executions/${idOf(first)}`)
    expect((await recordOf(second)).output.text.length).toBe(2_000_000)
  })

  it('is found whatever the order of the fields', async () => {
    const input = anInput({ ms: 0, size: 3 })
    const first = await ask(input)
    const second = await ask(Object.fromEntries(Object.entries(input).reverse()) as Input)
    expect(second.headers.get('x-cached-document-execution-id')).toBe(idOf(first))
  })

  it.each([
    ['tenant', 'useCache=true&tenantId=acme'],
    ['learning', 'useCache=true&useDynamicLearning=true'],
    ['nobody, when it is not asked for', 'execMode=sync'],
    ['nobody, when it is switched off', 'useCache=false'],
  ])('is not shared with another %s', async (_, query) => {
    const input = anInput()
    await ask(input)
    expect((await ask(input, query)).json.run).toBe(2)
  })

  it('is not shared with another organization', async () => {
    const other = await newOrganization()
    await other.publish('counted')
    const input = anInput()
    await ask(input)
    expect((await ask(input, 'useCache=true', other)).json.run).toBe(2)
  })

  it('is not found any more when the original was deleted; deleting a hit changes nothing', async () => {
    const input = anInput()
    const first = await ask(input)
    const hit = await ask(input)
    expect((await own.call('DELETE', `/v1/agent_executions/${idOf(hit)}`)).status).toBe(204)
    expect((await ask(input)).json.run).toBe(1)
    expect((await own.call('DELETE', `/v1/agent_executions/${idOf(first)}`)).status).toBe(204)
    expect((await ask(input)).json.run).toBe(2)
  })

  it('runs where its input has no canonical form', async () => {
    const { log } = anInput()
    const raw = JSON.stringify({ log, odd: '\ud800' })
    for (const run of [1, 2]) {
      const answer = await own.call('POST', `${RUN}?useCache=true`, { raw })
      expect([answer.json.run, answer.headers.get('cache-status')]).toEqual([run, null])
    }
  })
})

describe('a version that caches by itself', () => {
  it('does so for its time, unless a call says otherwise; another version starts anew', async () => {
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
    const input = anInput()
    const first = await ask(input, '', by)
    expect(first.json.run).toBe(1)
    expect((await ask(input, '', by)).json.run).toBe(1)
    expect((await ask(input, 'useCache=false', by)).json.run).toBe(2)
    await publish(1)
    // Another process published: this one runs the previous version for at most a second.
    await vi.waitFor(async () => expect((await ask(input, '', by)).json.run).toBe(3), { timeout: 10_000 })
    await until(async () => (await ask(input, '', by)).json.run === 4, {
      what: 'the entry to be over',
      limitMs: 10_000,
      everyMs: 100,
    })
  })
})
