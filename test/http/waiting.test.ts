import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, inject, it } from 'vitest'
import { waitHeaders } from '../../lib/contract/parameters/executions.ts'
import { ANONYMOUS } from '../../lib/core/access.ts'
import { toRecordResponse } from '../../lib/http/responses.ts'
import { system } from '../../lib/system.ts'
import { anExecution } from '../support/engine/executions.ts'
import { organizationWith } from '../support/service/organization-with.ts'

const org = await organizationWith('wait')
const startExecution = async (seconds: number): Promise<string> =>
  (await org.run('wait', { seconds }, 'execMode=async')).json.id

const readExecution = (id: string, prefer: string) =>
  org.call('GET', `/v1/agent_executions/${id}`, { headers: { Prefer: prefer } })

describe.concurrent('GET an execution with Prefer: wait=N', () => {
  it('responds when the execution is final', async () => {
    const { status, json, headers } = await readExecution(await startExecution(1), 'wait=20')
    expect([status, json.status]).toEqual([200, 'SUCCESS'])
    expect(json.output.waitedSeconds).toBeGreaterThan(0)
    expect(headers.get('preference-applied')).toBe('wait=20')
  })

  it('responds after N seconds with the record in progress', async () => {
    const id = await startExecution(60)
    const startedAt = performance.now()
    const { json, headers } = await readExecution(id, 'wait=1')
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(1_000)
    expect(json.status).toBe('IN_PROGRESS')
    expect(headers.get('retry-after')).toMatch(/^\d+$/)
    await org.call('POST', `/v1/agent_executions/${id}/cancel`)
  })
})

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
])('the Prefer header "%s" waits %i seconds', (prefer, seconds) => {
  expect(waitHeaders.parse({ Prefer: prefer })).toEqual({ Prefer: seconds })
})

describe('Retry-After', () => {
  const after = (ageSeconds: number): number => {
    const execution = anExecution({ now: system.now() - ageSeconds * 1000 })
    return Number(toRecordResponse(execution, { access: ANONYMOUS }).headers?.['Retry-After'])
  }

  it('is the age of a new execution, then three seconds, then a quarter of the age up to a minute', () => {
    expect([-5, 0, 1, 2, 3, 12, 20, 100, 240, 86_400].map(after)).toEqual([1, 1, 1, 2, 3, 3, 5, 25, 60, 60])
  })

  it('is honored with few reads, the last of them soon after the end', () => {
    for (const seconds of [1, 5, 20, 60, 300, 3_600]) {
      let [age, reads] = [0, 0]
      for (; age < seconds; reads++) age += after(age)
      expect(reads).toBeLessThan(13 + seconds / 30)
      expect(age).toBeLessThanOrEqual(seconds * 1.25 + 3)
    }
  })

  it('is not sent with a final execution', () => {
    const final = { ...anExecution(), status: 'SUCCESS' as const }
    expect(toRecordResponse(final, { access: ANONYMOUS }).headers).toEqual({})
  })
})

const run = promisify(execFile)

/** Ids and times differ from run to run. */
const normalize = (text: string) =>
  text
    .replaceAll(/"(id|executionId)":"[^"]+"/g, '"$1":"…"')
    .replaceAll(/"receivedAt":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/g, '"receivedAt":"…"')

it('the example of docs/waiting.md prints what the page says of signals', async () => {
  const own = await organizationWith('waits')
  const { json } = await own.run('waits', { signal: 'other' })
  const variables = {
    URL: `${inject('service')}/v1`,
    AUTH: `Authorization: Bearer ${own.token}`,
    JSON: 'Content-Type: application/json',
    ID: json.id,
  }
  const [, transcript = ''] = /^```console\n(.*?)^```/ms.exec(readFileSync('docs/waiting.md', 'utf8')) ?? []
  const commands = [...transcript.matchAll(/^\$ (.*)\n(.*)\n/gm)]
  expect(commands).toHaveLength(2)
  for (const [, command = '', output = ''] of commands) {
    const { stdout } = await run('bash', ['-c', command], { env: { ...process.env, ...variables } })
    expect(normalize(stdout)).toBe(normalize(output))
  }
})
