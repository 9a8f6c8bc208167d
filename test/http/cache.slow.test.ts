import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { system } from '../../lib/system.ts'
import { type ApiResponse, getExecutionId } from '../support/service/client.ts'
import { organizationWith } from '../support/service/organization-with.ts'

const folder = mkdtempSync(join(tmpdir(), 'aes-cache-'))
const org = await organizationWith('counted')
afterAll(() => rmSync(folder, { recursive: true }))

const createInput = () => ({ log: join(folder, system.newId()) })
const run = (input: object, query = 'useCache=true') => org.run('counted', input, query)
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
      ...{ id: getExecutionId(second), cached: true, cachedDocumentExecutionId: getExecutionId(first) },
      ...{ status: 'SUCCESS', input, output: first.json, steps: 0 },
    })
    expect(await recordOf(first)).not.toHaveProperty('cachedDocumentExecutionId')
    expect(readFileSync(input.log, 'utf8').trim().split('\n')).toHaveLength(1)
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
})
